package findings

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/compose"
	"deem/internal/doc"
	"deem/internal/store"
	"deem/judge/cascade"
	"deem/judge/panel"
	"deem/report/members"
)

// CascadePromise is what was promised of a cascade, as it is kept with a run.
type CascadePromise struct {
	compose.Promise
	Stages map[string]compose.Fitted `json:"stages"`
}

// A ComposedIdentity is the identity of a judge that is made of others, as far as a
// report looks at it.
type ComposedIdentity struct {
	Kind    string `json:"kind"`
	Rule    string `json:"rule"`
	Tie     string `json:"tie"`
	Members []struct {
		Name string `json:"name"`
	} `json:"members"`
	Stages []struct {
		Name      string          `json:"name"`
		Threshold *float64        `json:"threshold"`
		Judge     json.RawMessage `json:"judge"`
	} `json:"stages"`
}

// Composed reads the identity of a run's judge. It reports false when the judge is
// made of no others.
func Composed(run store.Run) (ComposedIdentity, bool) {
	var id ComposedIdentity
	if json.Unmarshal(run.Judge.Identity, &id) != nil || !slices.Contains(compose.Kinds(), id.Kind) {
		return id, false
	}
	return id, true
}

// IsComposed reports whether the judge of a run is made of others.
func IsComposed(run store.Run) bool {
	_, ok := Composed(run)
	return ok
}

// Names returns the names of the parts.
func (id ComposedIdentity) Names() []string {
	var names []string
	for _, m := range id.Members {
		names = append(names, m.Name)
	}
	for _, s := range id.Stages {
		names = append(names, s.Name)
	}
	return names
}

// composedNote returns what a report says of a judge that is made of others, "" for
// another judge.
func composedNote(run store.Run) string {
	id, ok := Composed(run)
	if !ok {
		return ""
	}
	list := strings.Join(id.Names(), ", ")
	switch id.Kind {
	case compose.Panel:
		return fmt.Sprintf("%s is a panel that decides by %s: %s", run.Judge.Name, id.Rule, list)
	case compose.Repeat:
		return fmt.Sprintf("%s asks one judge %d times and decides by %s", run.Judge.Name, len(id.Members), id.Rule)
	case compose.Cascade:
		return fmt.Sprintf("%s asks one judge after the other until one is sure: %s", run.Judge.Name, list)
	default:
		return run.Judge.Name + " asks about both orders of two responses, A and B: the score is how far A is better, and where the orders disagree the two are tied"
	}
}

// Parts is a report about the parts of a judge.
type Parts interface{ AddTo(d *doc.Document) }

// partsOf reports what the parts of a run's judge did, nil when it has none to report
// of. Only the first trial counts, as everywhere.
func partsOf(ctx context.Context, st store.Store, run store.Run) (Parts, error) {
	id, ok := Composed(run)
	if !ok || id.Kind == compose.Pairwise {
		return nil, nil
	}
	var add func(deem.Record)
	var done func() Parts
	if id.Kind == compose.Cascade {
		b, err := cascadeBuilder(run, id)
		if err != nil {
			return nil, err
		}
		add = func(rec deem.Record) { addStage(b, rec) }
		done = func() Parts { return b.Cascade() }
	} else {
		b := members.NewPanel(id.Names(), id.Rule, id.Kind == compose.Repeat)
		add = func(rec deem.Record) { addVotes(b, id.Names(), rec) }
		done = func() Parts { return b.Panel() }
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{Trial: new(int), Brief: true, WithCalls: true}) {
		if err != nil {
			return nil, err
		}
		add(rec)
	}
	return done(), nil
}

// addVotes counts the votes that a record holds.
func addVotes(b *members.PanelBuilder, names []string, rec deem.Record) {
	votes, ok := panel.Votes(names, rec)
	if !ok {
		return
	}
	counted := make([]members.Vote, len(votes))
	for i, v := range votes {
		counted[i] = members.Vote(v)
	}
	outcome := members.None
	if rec.Verdict != nil {
		outcome = members.No
		if rec.Verdict.Yes() {
			outcome = members.Yes
		}
	}
	b.Add(counted, outcome)
}

func cascadeBuilder(run store.Run, id ComposedIdentity) (*members.CascadeBuilder, error) {
	var set Settings
	if len(run.Settings) > 0 {
		if err := json.Unmarshal(run.Settings, &set); err != nil {
			return nil, fmt.Errorf("settings of run %s: %w", run.ID, err)
		}
	}
	var stages []members.Stage
	var promise *members.Promise
	if p := set.Promise; p != nil {
		promise = &members.Promise{Alpha: p.Alpha, Delta: p.Delta, Labels: p.Labels}
	}
	for _, s := range id.Stages {
		stages = append(stages, members.Stage{Name: s.Name, Threshold: s.Threshold, Models: ModelsIn(s.Judge)})
		if promise == nil {
			continue
		}
		if f, ok := set.Promise.Stages[s.Name]; ok {
			promise.Fitted = append(promise.Fitted, members.Fitted{Stage: s.Name, Labelled: f.Labelled, Decided: f.Decided, Wrong: f.Wrong, Bound: f.Bound})
		}
	}
	return members.NewCascade(stages, promise), nil
}

// ModelsIn returns the models that an identity names, in whatever it is made of.
func ModelsIn(identity json.RawMessage) []string {
	var tree any
	if json.Unmarshal(identity, &tree) != nil {
		return nil
	}
	var found []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if m, ok := v["model"].(string); ok && v["kind"] == "model" && !slices.Contains(found, m) {
				found = append(found, m)
			}
			for _, key := range []string{"judge", "members", "stages"} {
				walk(v[key])
			}
		}
	}
	walk(tree)
	return found
}

// addStage counts which stage decided a record.
func addStage(b *members.CascadeBuilder, rec deem.Record) {
	stage := 0
	if rec.Verdict != nil {
		stage = int(rec.Verdict.Aspects[cascade.StageAspect])
	}
	var calls []members.Asked
	for _, c := range rec.Calls {
		asked := members.Asked{Model: c.Model}
		if c.Reply != nil && !c.Reply.Cached { // what was paid for earlier is not paid again
			asked.CostMicros = c.Reply.CostMicros
		}
		calls = append(calls, asked)
	}
	b.Add(stage, calls)
}
