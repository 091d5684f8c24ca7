// Package deemtest judges in Go tests. A team that writes a question-answering system
// in Go says in its own tests how good the answers must be:
//
//	func TestAnswers(t *testing.T) {
//		it := deem.Item{ID: "q1", Question: "Where does Mara live?",
//			References: []string{"Porto"}, Response: answer("Where does Mara live?")}
//		deemtest.Judge(t, match.New(), it).AtLeast(0.9)
//	}
//
// An item that the judge cannot judge fails the test as unjudged, and never as wrong:
// what is amiss then is the judge, or the way to it, and not the answer.
//
// Many items are judged with [All]. What is asked of them is asked of their mean and,
// where chance must not decide, of the lower end of its interval.
package deemtest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/words"
	"deem/stat"
)

// A Verdict is what a judge said of one item, for a test to hold something against.
// Its methods fail the test and go on, as t.Error does.
type Verdict struct {
	// Record holds the verdict or the failure.
	Record deem.Record

	t testing.TB
}

// Judge asks the judge about an item. What ends every run, as a key that is not
// accepted, ends the test.
func Judge(t testing.TB, j deem.Judge, it deem.Item) *Verdict {
	t.Helper()
	v, err := j.Judge(t.Context(), it)
	rec := deem.Record{Item: it, Judge: j.Name()}
	if failure, ok := errors.AsType[*deem.Failure](err); ok {
		rec.Failure = failure
	} else if err != nil {
		t.Fatalf("%s cannot judge: %v%s", j.Name(), err, hint(err))
	} else {
		rec.Verdict = &v
	}
	return &Verdict{Record: rec, t: t}
}

// hint returns the advice that comes with an error, on a line of its own.
func hint(err error) string {
	if text := deem.HintOf(err); text != "" {
		return "\nhint: " + text
	}
	return ""
}

// AtLeast wants a score of at least the given one.
func (v *Verdict) AtLeast(score float64) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Score < score {
		v.t.Errorf("%s: score %.4g, want at least %.4g%s", v.name(), d.Score, score, v.said())
	}
	return v
}

// AtMost wants a score of at most the given one, for answers that must not be accepted.
func (v *Verdict) AtMost(score float64) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Score > score {
		v.t.Errorf("%s: score %.4g, want at most %.4g%s", v.name(), d.Score, score, v.said())
	}
	return v
}

// Passes wants a verdict that says yes: see [deem.Verdict.Yes].
func (v *Verdict) Passes() *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && !d.Yes() {
		v.t.Errorf("%s does not pass%s", v.name(), v.said())
	}
	return v
}

// Says wants a label, as the judge spells it.
func (v *Verdict) Says(label string) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Label != label {
		v.t.Errorf("%s: label %q, want %q%s", v.name(), d.Label, label, v.said())
	}
	return v
}

// Aspect wants an aspect of at least the given value.
func (v *Verdict) Aspect(name string, least float64) *Verdict {
	v.t.Helper()
	d, ok := v.judged()
	if !ok {
		return v
	}
	switch got, ok := d.Aspects[name]; {
	case !ok:
		v.t.Errorf("%s: the judge says nothing of the aspect %q", v.name(), name)
	case got < least:
		v.t.Errorf("%s: %s %.4g, want at least %.4g%s", v.name(), name, got, least, v.said())
	}
	return v
}

// Unjudged wants a failure of the given kind, for tests of a judge.
func (v *Verdict) Unjudged(kind deem.Kind) *Verdict {
	v.t.Helper()
	switch f := v.Record.Failure; {
	case f == nil:
		v.t.Errorf("%s is judged, want a failure of kind %s%s", v.name(), kind, v.said())
	case f.Kind != kind:
		v.t.Errorf("%s: failure %v, want one of kind %s", v.name(), f, kind)
	}
	return v
}

// judged returns the verdict. Without one the test fails, and says so.
func (v *Verdict) judged() (deem.Verdict, bool) {
	v.t.Helper()
	if f := v.Record.Failure; f != nil {
		v.t.Errorf("%s is unjudged, which is not the same as wrong: %v", v.name(), f)
		return deem.Verdict{}, false
	}
	return *v.Record.Verdict, true
}

func (v *Verdict) name() string { return nameOf(v.Record.Item) }

func nameOf(it deem.Item) string {
	if it.ID == "" {
		return "the item"
	}
	return "item " + it.ID
}

// said tells what led to the verdict, on lines below the complaint.
func (v *Verdict) said() string {
	it, d := v.Record.Item, *v.Record.Verdict
	lines := []string{"", "judge      " + v.Record.Judge + ": " + d.Label}
	if d.Reason != "" {
		lines = append(lines, "reason     "+d.Reason)
	}
	if it.Question != "" {
		lines = append(lines, "question   "+it.Question)
	}
	for _, ref := range it.References {
		lines = append(lines, "reference  "+ref)
	}
	return strings.Join(append(lines, "response   "+it.Response), "\n\t")
}

// Verdicts are what a judge said of many items.
type Verdicts struct {
	// Records are in the order of the items.
	Records []deem.Record

	t testing.TB
}

// All asks the judge about all items, eight at once. What ends the run ends the test.
func All(t testing.TB, j deem.Judge, items []deem.Item) *Verdicts {
	t.Helper()
	vs := &Verdicts{t: t}
	for rec, err := range deem.Run(t.Context(), each(items), j, deem.Options{}) {
		if err != nil {
			t.Fatalf("%s cannot judge: %v%s", j.Name(), err, hint(err))
		}
		vs.Records = append(vs.Records, rec)
	}
	slices.SortFunc(vs.Records, func(a, b deem.Record) int { return a.Position - b.Position })
	return vs
}

func each(items []deem.Item) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// Estimate returns the mean score of the judged items, with its interval, and how many
// items are unjudged. Items that share a cluster are not independent, which widens the
// interval as in a report.
func (vs *Verdicts) Estimate() (est stat.Estimate, unjudged int) {
	var c stat.Clustered
	for _, rec := range vs.Records {
		if rec.Verdict == nil {
			unjudged++
			continue
		}
		c.Add(rec.Item.Cluster, rec.Verdict.Score, cmp.Or(rec.Item.Weight, 1))
	}
	return c.Score(stat.DefaultLevel, false), unjudged
}

// AtLeast wants a mean score of at least the given one over the judged items, and that
// all are judged; [Verdicts.AllowUnjudged] allows for some that are not.
func (vs *Verdicts) AtLeast(score float64) *Verdicts {
	vs.t.Helper()
	return vs.atLeast(score, "at least", func(est stat.Estimate) float64 { return est.Value })
}

// SurelyAtLeast wants the lower end of the interval of the mean at or above the given
// score: then the system is that good beyond what chance explains. It takes more items
// than [Verdicts.AtLeast], or a better system.
func (vs *Verdicts) SurelyAtLeast(score float64) *Verdicts {
	vs.t.Helper()
	return vs.atLeast(score, "its lower end to be at least", func(est stat.Estimate) float64 { return est.Lo })
}

// atLeast wants all items to be judged, and a number of the estimate not to be below the
// score. Where none is judged there is no estimate, and the test fails.
func (vs *Verdicts) atLeast(score float64, want string, number func(stat.Estimate) float64) *Verdicts {
	vs.t.Helper()
	est, unjudged := vs.Estimate()
	complete := vs.complete(unjudged, 0)
	switch {
	case est.N == 0 && complete:
		vs.t.Errorf("no item is judged, so there is no score; want %s %.4g", want, score)
	case est.N > 0 && number(est) < score:
		vs.t.Errorf("score %s, want %s %.4g%s", inWords(est, unjudged), want, score, vs.worst())
	}
	return vs
}

// AllowUnjudged wants at most this share of the items to be unjudged, and leaves these
// out. What is asked of the verdicts that it returns is asked of the others.
func (vs *Verdicts) AllowUnjudged(share float64) *Verdicts {
	vs.t.Helper()
	_, unjudged := vs.Estimate()
	vs.complete(unjudged, share)
	return &Verdicts{t: vs.t, Records: slices.DeleteFunc(slices.Clone(vs.Records), func(rec deem.Record) bool { return rec.Verdict == nil })}
}

// complete fails the test when too many items are unjudged, and reports whether it does not.
func (vs *Verdicts) complete(unjudged int, share float64) bool {
	vs.t.Helper()
	if float64(unjudged) <= share*float64(len(vs.Records)) {
		return true
	}
	kinds := map[deem.Kind]int{}
	var first *deem.Record
	for i, rec := range vs.Records {
		if rec.Failure != nil {
			kinds[rec.Failure.Kind]++
			if first == nil {
				first = &vs.Records[i]
			}
		}
	}
	vs.t.Errorf("%d of %d items are unjudged, which is not the same as wrong: %v; the first is %s: %v",
		unjudged, len(vs.Records), kinds, nameOf(first.Item), first.Failure)
	return false
}

func inWords(est stat.Estimate, unjudged int) string {
	return fmt.Sprintf("%.4g %s n=%d unjudged=%d", est.Value, est.Ends("%.4g", 1), est.N, unjudged)
}

// shown is how many items a complaint names.
const shown = 5

// worst lists the items with the lowest scores.
func (vs *Verdicts) worst() string {
	judged := slices.DeleteFunc(slices.Clone(vs.Records), func(rec deem.Record) bool { return rec.Verdict == nil })
	slices.SortStableFunc(judged, func(a, b deem.Record) int {
		switch {
		case a.Verdict.Score < b.Verdict.Score:
			return -1
		case a.Verdict.Score > b.Verdict.Score:
			return 1
		}
		return 0
	})
	var text strings.Builder
	for _, rec := range judged[:min(shown, len(judged))] {
		fmt.Fprintf(&text, "\n\t%s: %s, score %.4g: %q", nameOf(rec.Item), rec.Verdict.Label, rec.Verdict.Score, words.Clip(rec.Item.Response, 80))
	}
	return text.String()
}
