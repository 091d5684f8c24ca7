package catalog

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/model"
	"deem/internal/reader"
	"deem/internal/store"
	"deem/judge"
	"deem/judge/answer"
	"deem/judge/cascade"
	"deem/judge/pairwise"
	"deem/judge/panel"
	"deem/judge/rule"
)

// Parts are the parts of a judge that are not in its spec. [Build] fails if a part that the
// judge needs is missing.
type Parts struct {
	// Model opens a model by name and settings. It is called in the order of the
	// members, once for each model.
	Model func(name, settings string) (deem.Model, error)

	Embedder rule.Embedder         // for the rule that compares meanings
	Labels   map[string]deem.Judge // label files by the name of their judge

	// Instead, if set, returns a replacement for the i-th member of a panel or a
	// cascade that cannot be built. Members are then checked: see [checkedMember].
	Instead func(of judge.Spec, i int) deem.Judge

	made map[string]judge.Readable // protocols that were built already, by protocolKey
}

// keep adds the protocols of other parts.
func (p *Parts) keep(others Parts) {
	if p.made == nil {
		p.made = map[string]judge.Readable{}
	}
	maps.Copy(p.made, others.made)
}

// protocolKey identifies a protocol, whatever model it asks.
func protocolKey(s judge.Spec) string {
	s.Model, s.Settings = "", ""
	key, err := deem.Hash(s)
	if err != nil {
		panic(fmt.Sprintf("catalog: %v", err)) // A spec is JSON.
	}
	return key
}

// protocol returns the protocol of a judge, which is built once.
func (p Parts) protocol(s judge.Spec) (judge.Readable, error) {
	if len(p.made) > 0 {
		if protocol, ok := p.made[protocolKey(s)]; ok {
			return protocol, nil
		}
	}
	return protocolOf(s)
}

// Build builds the judge of a spec. All judges are built by it.
func Build(s judge.Spec, p Parts) (deem.Judge, error) {
	if open := p.Model; open != nil {
		opened := map[wireKey]deem.Model{}
		p.Model = func(name, settings string) (m deem.Model, err error) {
			key := wireKey{name, settings}
			if m, ok := opened[key]; ok {
				return m, nil
			}
			if m, err = open(name, settings); err == nil {
				opened[key] = m
			}
			return m, err
		}
	}
	return p.build(s, 0)
}

// build builds a judge at the given nesting depth.
func (p Parts) build(s judge.Spec, depth int) (deem.Judge, error) {
	if depth > maxNesting+1 { // --repeat adds one level to those of a file
		return nil, fmt.Errorf("its judges are made of judges more than %d deep", maxNesting)
	}
	switch s.Kind {
	case judge.KindModel:
		protocol, err := p.protocol(s)
		if err != nil {
			return nil, err
		}
		if p.Model == nil {
			return nil, fmt.Errorf("judge %s asks a model, and there is none", s.Name)
		}
		m, err := p.Model(s.Model, s.Settings)
		if err != nil {
			return nil, err
		}
		return judge.New(protocol, m), nil
	case judge.KindRule:
		j, err := p.named(s)
		if err != nil {
			return nil, err
		}
		return j, benchmark.SameJudge(judge.SpecOf(j), s)
	case judge.KindPeople:
		return cascade.People(), nil
	case judge.KindPanel, judge.KindRepeat, judge.KindCascade, judge.KindPairwise, judge.KindRules, judge.KindAnswer:
		return p.compose(s, depth)
	}
	if j, ok := p.Labels[s.Name]; ok {
		return j, nil
	}
	return nil, fmt.Errorf("%s judges by further data", s.Name)
}

// protocolOf returns the protocol of a reader, or of a judge that uses a model.
func protocolOf(s judge.Spec) (judge.Readable, error) {
	if len(s.Reader) > 0 {
		d, err := reader.FromSpec(s)
		if err != nil {
			return nil, err
		}
		return d.Protocol(), nil
	}
	return benchmark.Protocol(s)
}

// compose builds a judge from its members.
func (p Parts) compose(s judge.Spec, depth int) (deem.Judge, error) {
	members := make([]deem.Judge, len(s.Members))
	for i, m := range s.Members {
		j, err := p.build(m.Judge, depth+1)
		if err != nil && depth == 0 && p.Instead != nil && (s.Kind == judge.KindPanel || s.Kind == judge.KindCascade) {
			j, err = p.Instead(s, i), nil
		}
		if err == nil {
			err = fitted(m, j)
		}
		if err != nil {
			return nil, err
		}
		if p.Instead != nil && j != cascade.People() { // a cascade checks for it
			j = checkedMember{j}
		}
		members[i] = j
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("%s is made of judges and has none", s.Name)
	}
	if s.Times > maxTimes {
		return nil, fmt.Errorf("%s asks %d times about each item, and %d is the most", s.Name, s.Times, maxTimes)
	}
	o := panel.Options{Name: s.Name, Rule: panel.Rule(s.Rule), Tie: panel.Tie(s.Tie), Quorum: s.Quorum}
	if s.Pass != nil {
		o.Pass = *s.Pass
	}
	switch s.Kind {
	case judge.KindPanel:
		var list []panel.Member
		for i, m := range s.Members {
			list = append(list, panel.Member{Name: m.Name, Judge: members[i], Weight: m.Weight})
		}
		return orNil(panel.New(list, o))
	case judge.KindRepeat:
		return orNil(panel.Repeat(members[0], s.Times, o))
	case judge.KindPairwise:
		return pairwise.New(s.Name, members[0]), nil
	case judge.KindRules:
		return rule.Several(members...)
	case judge.KindAnswer:
		if len(members) == 1 {
			return answer.New(members[0], nil), nil
		}
		return answer.New(members[0], members[1]), nil
	}
	var stages []cascade.Stage
	for i, m := range s.Members {
		stages = append(stages, cascade.Stage{Name: m.Name, Judge: members[i], Threshold: m.Threshold})
	}
	return orNil(cascade.New(s.Name, stages))
}

// maxTimes is the maximum number of times that repeat may ask. A spec may come from an
// untrusted file.
const maxTimes = 1000

// orNil prevents a nil pointer from becoming a non-nil judge.
func orNil[J deem.Judge](j J, err error) (deem.Judge, error) {
	if err != nil {
		return nil, err
	}
	return j, nil
}

// fitted returns an error if the judge is not the one that a threshold was fitted for.
func fitted(m judge.Member, j deem.Judge) error {
	if m.Fitted == "" {
		return nil
	}
	hash, err := deem.JudgeHash(j)
	if err != nil || strings.HasPrefix(hash, m.Fitted) && len(m.Fitted) >= 12 {
		return err
	}
	return deem.WithHint(fmt.Errorf("%s: %s has the hash %s, and the cascade was fitted for %s: its promise does not hold for another judge",
		m.Place, j.Name(), deem.ShortHash(hash), deem.ShortHash(m.Fitted)),
		"fit it again: deem cascade fit --labels FILE; or choose the model and the reading that it was fitted with")
}

func (p Parts) named(s judge.Spec) (deem.Judge, error) {
	if b, ok := benchmark.All().OfJudge(s.Name); ok {
		j, err := b.Judge(s.Name, benchmark.Options{Reading: s.Reading, With: s.Options})
		if err == nil && j.Rule == nil {
			err = fmt.Errorf("judge %s is not a rule", s.Name)
		}
		return j.Rule, err
	}
	j, ok := ruleNamed(s.Name)
	switch {
	case !ok:
		return nil, fmt.Errorf("this deem has no rule %s", s.Name)
	case rule.NeedsEmbedder(s.Name) && p.Embedder == nil:
		return nil, deem.WithHint(fmt.Errorf("judge %s needs embeddings", s.Name),
			"--embeddings names a folder with a sentence model's files, or a model of a server: openai:text-embedding-3-small, ollama:nomic-embed-text")
	case rule.NeedsEmbedder(s.Name):
		j = rule.Semantic(p.Embedder)
	}
	if s.Pass != nil {
		return rule.WithPass(j, *s.Pass)
	}
	return j, nil
}

// Stored rebuilds the judge stored with a run. It returns an error if the result is a
// different judge.
func Stored(kept store.JudgeSpec, p Parts) (deem.Judge, error) {
	s, err := judge.ParseSpec(kept.Identity)
	if err != nil {
		return nil, err
	}
	j, err := Build(s, p)
	if err != nil {
		return nil, err
	}
	hash, err := deem.JudgeHash(j)
	if err == nil && hash != kept.Hash {
		err = fmt.Errorf("this deem makes another judge of %s (%s, and the run has %s)", kept.Name, deem.ShortHash(hash), deem.ShortHash(kept.Hash))
	}
	return j, err
}

// Again returns the judge of a run if it can be asked again without cost: a rule, or a
// protocol with the stored replies as its model. It returns nil for a judge that needs
// more, such as an embedding model.
func Again(st store.Store, run store.Run) (deem.Judge, error) {
	s, err := judge.ParseSpec(run.Judge.Identity)
	if err != nil {
		return nil, err
	}
	if s.Kind != judge.KindModel {
		if s.Asks() {
			return nil, nil
		}
		j, err := Stored(run.Judge, Parts{})
		if err != nil {
			return nil, nil //nolint:nilerr // The check needs data that is missing here.
		}
		return j, nil
	}
	m := &memory{name: s.Model, endpoint: run.Endpoint, settings: s.Settings}
	j, err := Build(s, Parts{Model: func(string, string) (deem.Model, error) { return model.Cache(m, st, model.CacheOptions{}), nil }})
	if err != nil {
		return nil, err
	}
	return &recalling{j, m}, nil
}

// errUnasked is the failure of an item for which there is no stored reply.
var errUnasked = deem.Failf("unasked", "the model was never asked about this item")

// A memory is a model without replies of its own. Behind a cache it represents the model
// whose replies are cached, and records whether it was asked for one that is missing.
type memory struct {
	name, endpoint, settings string
	asked                    bool
}

var _ deem.Tuned = (*memory)(nil)

func (m *memory) Name() string     { return m.name }
func (m *memory) Endpoint() string { return m.endpoint }
func (m *memory) Settings() string { return m.settings }

func (m *memory) Complete(context.Context, deem.Request) (deem.Reply, error) {
	m.asked = true
	return deem.Reply{}, &deem.ModelError{Kind: deem.Provider, Err: errUnasked}
}

// recalling is a judge that uses a memory.
type recalling struct {
	inside deem.Judge
	memory *memory
}

func (r *recalling) Name() string { return r.inside.Name() }

// Judge returns the verdict for a stored reply.
func (r *recalling) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	r.memory.asked = false
	v, err := r.inside.Judge(ctx, it)
	if r.memory.asked {
		return deem.Verdict{}, errUnasked
	}
	return v, err
}
