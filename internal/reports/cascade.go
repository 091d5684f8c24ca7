package reports

import (
	"fmt"
	"slices"
	"strconv"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A Cascade shows how many items each stage decided, and what that saved.
type Cascade struct {
	Items     int     `json:"items"`
	Stages    []Stage `json:"stages"`
	Undecided int     `json:"undecided"` // items that no stage decided, which are unjudged

	// Saved is the estimated cost of the last model stage on the items that earlier stages
	// decided, based on its cost on the others. It is nil if the cascade has no model stage
	// or no model was called.
	Saved *Saved `json:"saved,omitempty"`

	// Promise is the guarantee of the fitted thresholds, nil if they were not fitted.
	Promise *Promise `json:"promise,omitempty"`
}

// A Stage is one judge of a cascade with its results.
type Stage struct {
	Name      string   `json:"name"`
	Threshold *float64 `json:"threshold,omitempty"` // nil if every verdict counts
	Models    []string `json:"models,omitempty"`    // that it calls

	Reached  int           `json:"reached"` // items that no earlier stage decided
	Decided  int           `json:"decided"`
	Coverage stat.Estimate `json:"coverage"` // the share of all items that it decided

	Calls      int   `json:"calls"`
	CostMicros int64 `json:"cost_micros"`
}

// Saved is the calls that were avoided.
type Saved struct {
	Stage      string  `json:"stage"`
	Items      int     `json:"items"`
	Calls      float64 `json:"calls"`
	CostMicros int64   `json:"cost_micros"`
}

// A Promise is the guarantee of fitting, by stage.
type Promise struct {
	Alpha  float64  `json:"alpha"`
	Delta  float64  `json:"delta"`
	Labels string   `json:"labels,omitempty"`
	Fitted []Fitted `json:"fitted"`
}

// A Fitted is the measurement at which a threshold was fitted.
type Fitted struct {
	Stage    string  `json:"stage"`
	Labelled int     `json:"labelled"`
	Decided  int     `json:"decided"`
	Wrong    int     `json:"wrong"`
	Bound    float64 `json:"bound"` // of the share of wrong decisions
}

// Add counts an item that the given stage decided, from 1, or 0 for none. A call counts for
// the first stage that uses its model and was reached. The stages must have their names,
// thresholds and models.
func (r *Cascade) Add(stage int, calls []deem.Call) {
	r.Items++
	last := stage
	if stage == 0 {
		r.Undecided++
		last = len(r.Stages)
	} else {
		r.Stages[stage-1].Decided++
	}
	reached := r.Stages[:last]
	for i := range reached {
		reached[i].Reached++
	}
	for _, c := range calls {
		i := slices.IndexFunc(reached, func(s Stage) bool { return slices.Contains(s.Models, c.Model) })
		if i < 0 {
			continue
		}
		reached[i].Calls++
		if c.Reply != nil && !c.Reply.Cached { // cached calls are not paid again
			reached[i].CostMicros += c.Reply.CostMicros
		}
	}
}

// Finish computes the shares of all items and what was saved.
func (r *Cascade) Finish() {
	for i := range r.Stages {
		r.Stages[i].Coverage = stat.Proportion(r.Stages[i].Decided, r.Items, stat.DefaultLevel)
		s := r.Stages[i]
		if i == 0 || len(s.Models) == 0 || s.Reached == 0 {
			continue
		}
		skipped := r.Items - s.Reached
		r.Saved = &Saved{
			Stage: s.Name, Items: skipped, Calls: float64(s.Calls) / float64(s.Reached) * float64(skipped),
			CostMicros: int64(float64(s.CostMicros) / float64(s.Reached) * float64(skipped)),
		}
	}
}

// AddTo adds the report to a document.
func (r Cascade) AddTo(d *doc.Document) {
	head := doc.Facts{{Name: "cascade", Text: fmt.Sprintf("%d stages, %s, %s decided by none", len(r.Stages), words.Count(r.Items, "item"), words.Comma(r.Undecided))}}
	t := doc.Table{Columns: []doc.Column{
		doc.Col("stage"), doc.Num("from"), doc.Num("reached"), doc.Num("decided"), doc.Est("of all items [95%]"), doc.Num("calls"), doc.Num("cost"),
	}}
	for _, s := range r.Stages {
		from := "any"
		if s.Threshold != nil {
			from = strconv.FormatFloat(*s.Threshold, 'g', 4, 64)
		}
		t.Rows = append(t.Rows, []doc.Cell{
			doc.T(s.Name), doc.T(from), doc.N(s.Reached), doc.N(s.Decided), doc.T(doc.Share(s.Coverage)), doc.N(s.Calls), doc.T(words.Dollars(s.CostMicros)),
		})
	}
	var facts doc.Facts
	if s := r.Saved; s != nil {
		facts = append(facts, doc.Fact{Name: "saved", Text: fmt.Sprintf("%s that %s was not asked about, about %s, about %s",
			words.Count(s.Items, "item"), s.Stage, words.Count(int(s.Calls+0.5), "call"), words.Dollars(s.CostMicros))})
	}
	if p := r.Promise; p != nil {
		facts = append(facts, doc.Fact{Name: "promise", Text: fmt.Sprintf(
			"people agree with at least %s of what the stages before the last decide, with a probability of at least %s, for items like those that were labelled",
			doc.Percent(1-p.Alpha), doc.Percent(1-p.Delta))})
		for _, f := range p.Fitted {
			facts = append(facts, doc.Fact{Name: "measured", Text: fmt.Sprintf("%s: people agree with %s of %s decided among %s; at least %s",
				f.Stage, words.Comma(f.Decided-f.Wrong), words.Comma(f.Decided), words.Count(f.Labelled, "label"), doc.Percent(1-f.Bound))})
		}
	}
	d.Add(doc.Section{ID: "parts", Blocks: []doc.Block{head, t, facts}})
}
