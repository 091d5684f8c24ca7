// Package deemtest judges answers in Go tests. The tests of a question-answering system
// state how good its answers must be:
//
//	func TestAnswers(t *testing.T) {
//		it := deem.Item{ID: "q1", Question: "Where does Mara live?",
//			References: []string{"Porto"}, Response: answer("Where does Mara live?")}
//		deemtest.Judge(t, match.New(), it).AtLeast(0.9)
//	}
//
// An item without a verdict fails the test as unjudged, not as wrong: the problem is then
// the judge or its connection, not the answer.
//
// Use [All] for many items. A requirement applies to their mean score or, to allow for
// chance, to the lower end of its confidence interval.
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

// A Verdict is the verdict on one item, with methods that check it. A failed check marks
// the test as failed and continues, like t.Error.
type Verdict struct {
	// Record contains the verdict or the failure.
	Record deem.Record

	t testing.TB
}

// Judge asks the judge about an item. An error that would end a run, such as a rejected API
// key, ends the test.
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

// hint returns the hint of an error on a separate line.
func hint(err error) string {
	if text := deem.HintOf(err); text != "" {
		return "\nhint: " + text
	}
	return ""
}

// AtLeast checks that the score is at least the given one.
func (v *Verdict) AtLeast(score float64) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Score < score {
		v.t.Errorf("%s: score %.4g, want at least %.4g%s", v.name(), d.Score, score, v.said())
	}
	return v
}

// AtMost checks that the score is at most the given one, for answers that must not be
// accepted.
func (v *Verdict) AtMost(score float64) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Score > score {
		v.t.Errorf("%s: score %.4g, want at most %.4g%s", v.name(), d.Score, score, v.said())
	}
	return v
}

// Passes checks that the verdict is yes; see [deem.Verdict.Yes].
func (v *Verdict) Passes() *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && !d.Yes() {
		v.t.Errorf("%s does not pass%s", v.name(), v.said())
	}
	return v
}

// Says checks the label, in the judge's spelling.
func (v *Verdict) Says(label string) *Verdict {
	v.t.Helper()
	if d, ok := v.judged(); ok && d.Label != label {
		v.t.Errorf("%s: label %q, want %q%s", v.name(), d.Label, label, v.said())
	}
	return v
}

// Aspect checks that an aspect has at least the given value.
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

// Unjudged checks that there is a failure of the given kind, for tests of a judge.
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

// judged returns the verdict. If there is none, it fails the test.
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

// said returns the details of the verdict, for the lines below an error message.
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

// Verdicts are the verdicts on many items.
type Verdicts struct {
	// Records are in the order of the items.
	Records []deem.Record

	t testing.TB
}

// All asks the judge about all items, eight at a time. An error that ends the run ends the
// test.
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

// Estimate returns the mean score of the judged items with its confidence interval, and the
// number of unjudged items. Items of the same cluster are not independent, which widens the
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

// AtLeast checks that the mean score of the judged items is at least the given one, and
// that all items are judged; use [Verdicts.AllowUnjudged] to allow some that are not.
func (vs *Verdicts) AtLeast(score float64) *Verdicts {
	vs.t.Helper()
	return vs.atLeast(score, "at least", func(est stat.Estimate) float64 { return est.Value })
}

// SurelyAtLeast checks that the lower end of the interval of the mean is at least the given
// score, so that chance does not explain the result. It needs more items than
// [Verdicts.AtLeast], or a better system.
func (vs *Verdicts) SurelyAtLeast(score float64) *Verdicts {
	vs.t.Helper()
	return vs.atLeast(score, "its lower end to be at least", func(est stat.Estimate) float64 { return est.Lo })
}

// atLeast checks that all items are judged, and that a number of the estimate is at least
// the score. If no item is judged there is no estimate, and the test fails.
func (vs *Verdicts) atLeast(score float64, want string, number func(stat.Estimate) float64) *Verdicts {
	vs.t.Helper()
	est, unjudged := vs.Estimate()
	complete := vs.complete(unjudged, 0)
	switch {
	case est.N == 0 && complete:
		vs.t.Errorf("no item is judged, so there is no score; want %s %.4g", want, score)
	case est.N > 0 && number(est) < score:
		vs.t.Errorf("score %.4g %s n=%d unjudged=%d, want %s %.4g%s", est.Value, est.Ends("%.4g", 1), est.N, unjudged, want, score, vs.worst())
	}
	return vs
}

// AllowUnjudged checks that at most this share of the items is unjudged, and returns the
// verdicts without them.
func (vs *Verdicts) AllowUnjudged(share float64) *Verdicts {
	vs.t.Helper()
	_, unjudged := vs.Estimate()
	vs.complete(unjudged, share)
	return &Verdicts{t: vs.t, Records: slices.DeleteFunc(slices.Clone(vs.Records), func(rec deem.Record) bool { return rec.Verdict == nil })}
}

// complete reports whether few enough items are unjudged, and fails the test otherwise.
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

// shown is the number of items in an error message.
const shown = 5

// worst lists the items with the lowest scores.
func (vs *Verdicts) worst() string {
	judged := slices.DeleteFunc(slices.Clone(vs.Records), func(rec deem.Record) bool { return rec.Verdict == nil })
	slices.SortStableFunc(judged, func(a, b deem.Record) int { return cmp.Compare(a.Verdict.Score, b.Verdict.Score) })
	var text strings.Builder
	for _, rec := range judged[:min(shown, len(judged))] {
		fmt.Fprintf(&text, "\n\t%s: %s, score %.4g: %q", nameOf(rec.Item), rec.Verdict.Label, rec.Verdict.Score, words.Clip(rec.Item.Response, 80))
	}
	return text.String()
}
