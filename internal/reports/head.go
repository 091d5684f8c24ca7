package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/doc"
	"deem/internal/labels"
	"deem/internal/store"
	"deem/internal/words"
	"deem/judge"
	"deem/judge/match"
	"deem/judge/rule"
	"deem/report"
)

// Afterwards is the broken promise of a run that is older than its lock.
const Afterwards = "the run began before it was locked"

// Head returns the head of the report of a run. All of it is stored with the run, so a
// report says the same wherever it is made.
func Head(run store.Run, maxUnjudged float64) report.Head {
	set, spec := SettingsOf(run.Spec), SpecOf(run)
	h := report.Head{
		Run: run.ID, Judge: run.Judge.Name, JudgeHash: GraderHash(run), JudgeKind: judge.KindModel, JudgeNote: judgeNote(run, Grader(spec)),
		Model: run.Model, System: set.System, SystemModel: set.SystemModel,
		Dataset: strings.Join(run.Dataset.Names, ", "), DatasetHash: run.Dataset.Hash,
		Items: run.Dataset.Items, Trials: run.Trials, MaxUnjudged: &maxUnjudged, CalibrationError: CalibrationError(run),
		Complete: run.State == store.Done, Started: run.Created, Ended: run.Updated,
	}
	if run.Judge.Rule || spec.Kind == judge.KindAnswer && Grader(spec).Kind == judge.KindRule {
		h.JudgeKind = judge.KindRule
	}
	if h.Reader = set.Reader; h.Reader != nil {
		h.Model, h.SystemModel = strings.Join(Grader(spec).Models(), " + "), cmp.Or(h.SystemModel, h.Reader.Model)
		h.JudgeNote = doc.Join("; ", "answered by "+h.Reader.String(), h.JudgeNote)
	}
	if u := set.Until; u != nil {
		h.Until = new(u.Until)
		h.Until.Base, h.Until.Passes = u.Base, u.Passes
	}
	made := DescribeHarness(spec)
	made.Deem, made.Excluded = set.Deem, LeftOut(set.Exclude)
	if set.Limit > 0 {
		made.Excluded = append(made.Excluded, fmt.Sprintf("all but the first %s (--limit)", words.Count(set.Limit, "item")))
	}
	if set.Sample != nil {
		made.Excluded = append(made.Excluded, "all but "+set.Sample.String())
	}
	if b, ok := benchmark.All().Named(set.Benchmark); ok && b.Policy != nil && made.Policy == "" { // a different judge for its questions
		made.Policy = b.Policy(set.With)
	}
	if l := set.Lock; l != nil {
		broken := slices.Clone(l.Broken)
		if run.Created.Before(l.Created) {
			broken = append(broken, Afterwards)
		}
		made.Lock = &doc.Lock{Hash: l.Hash, Created: l.Created.UTC(), Kept: len(broken) == 0, Broken: broken, Gates: l.Gates}
	}
	h.Harness, h.Overspent = &made, overspent(run)
	return h
}

// overspent returns by how much a run exceeded its budget, or nil if it did not.
func overspent(run store.Run) *report.Overspent {
	if run.MaxMicros == nil || run.CostMicros+run.SetAsideMicros <= *run.MaxMicros {
		return nil
	}
	return &report.Overspent{MaxMicros: *run.MaxMicros, OverMicros: run.CostMicros + run.SetAsideMicros - *run.MaxMicros, Times: run.Factor}
}

// judgeNote returns the note about a judge that is not a protocol with a model, "" for one
// that is.
func judgeNote(run store.Run, s judge.Spec) string {
	list := strings.Join(PartNames(s), ", ")
	switch s.Kind {
	case judge.KindRecorded:
		return "the verdicts were recorded by others, in " + strings.Join(run.Dataset.Names, ", ") + "; deem asked nobody"
	case labels.Kind:
		return "the verdicts were read from a file of labels: people gave them, or another program"
	case judge.KindPanel:
		return fmt.Sprintf("%s is a panel that decides by %s: %s", s.Name, s.Rule, list)
	case judge.KindRepeat:
		return fmt.Sprintf("%s asks one judge %d times and decides by %s", s.Name, s.Times, s.Rule)
	case judge.KindCascade:
		return fmt.Sprintf("%s asks one judge after the other until one is sure: %s", s.Name, list)
	case judge.KindPairwise:
		return s.Name + " asks about both orders of two responses, A and B: the score is how far A is better, and where the orders disagree the two are tied"
	}
	if !run.Judge.Rule {
		return ""
	}
	note := run.Judge.Name + " is a rule, not a model"
	if doc := cmp.Or(match.Doc(run.Judge.Name), rule.Doc(run.Judge.Name)); doc != "" {
		note += ": " + doc
	}
	return note
}

// DescribeHarness returns the public information in the spec of a judge: its prompts by their
// bytes, its parameters, and its treatment of categories.
func DescribeHarness(s judge.Spec) doc.Harness {
	d := &describer{params: map[string]string{}}
	d.judge("", s, nil)
	// Parameters that the model rejects according to its settings are not sent. One that
	// members of a panel have under the same name is removed as well; their replies show
	// whether it was sent.
	var dropped map[string]string
	if settings, err := url.ParseQuery(d.params["settings"]); err == nil && settings.Has("rejects") {
		dropped = map[string]string{}
		for name := range strings.SplitSeq(settings.Get("rejects"), ",") {
			if _, ok := d.params[name]; ok {
				delete(d.params, name)
				dropped[name] = "the model rejects it"
			}
		}
	}
	slices.SortStableFunc(d.prompts, func(a, b doc.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return doc.Harness{Prompts: d.prompts, Params: d.params, Dropped: dropped, Policy: strings.Join(d.policy, "; ")}
}

// A describer collects information while it walks a spec.
type describer struct {
	prompts []doc.Prompt
	params  map[string]string
	policy  []string
}

// judge adds the information of a judge and then of its members. who is the name of a
// member, which may have a threshold.
func (d *describer) judge(who string, s judge.Spec, threshold *float64) {
	params, pass := s.Params, s.Pass
	if decl := s.Declaration; decl != nil {
		d.prompt(cmp.Or(who, "prompt"), decl.Prompt)
		d.prompt(strings.TrimSpace(who+" system"), decl.System)
		params, pass = &decl.Params, decl.Pass
	}
	for _, name := range slices.Sorted(maps.Keys(s.Prompts)) {
		d.prompt(strings.TrimSpace(who+" "+name), s.Prompts[name])
	}
	if policy := s.Options["category5"]; policy != "" {
		d.policy = append(d.policy, "category 5 (adversarial): "+policy)
	}
	if rule := s.Options["abstention"]; rule != "" {
		d.policy = append(d.policy, "abstention prompt where the "+rule)
	}
	own := map[string]any{"pass": pass, "quorum": s.Quorum, "rule": s.Rule, "settings": s.Settings, "threshold": threshold, "tie": s.Tie}
	if s.Kind == judge.KindRule {
		own["version"] = s.Version
	}
	if text, err := json.Marshal(params); err == nil && params != nil {
		_ = json.Unmarshal(text, &own) // the JSON is always an object
	}
	delete(own, "optional")
	if schema, ok := own["schema"].(string); ok {
		hash, err := deem.Hash(json.RawMessage(schema))
		if err == nil {
			own["schema"] = "sha256:" + deem.ShortHash(hash)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		text, err := deem.Canonical(own[key])
		value := strings.Trim(string(text), `"`)
		if err != nil || value == "" || value == "null" || value == "0" && (key == "quorum" || key == "version") {
			continue
		}
		if old, ok := d.params[key]; ok && old != value {
			key = strings.TrimSpace(who + " " + key) // two judges have different values
		}
		d.params[key] = value
	}
	for _, m := range s.Members {
		d.judge(strings.TrimSpace(who+" "+m.Name), m.Judge, m.Threshold)
	}
}

// prompt adds a text with its hash. The same prompt under the same name is added once.
func (d *describer) prompt(name, text string) {
	if text == "" {
		return
	}
	sum := sha256.Sum256([]byte(text))
	p := doc.Prompt{Name: name, SHA256: hex.EncodeToString(sum[:]), Text: text}
	if !slices.Contains(d.prompts, p) {
		d.prompts = append(d.prompts, p)
	}
}
