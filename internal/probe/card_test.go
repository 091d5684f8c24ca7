package probe_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/probe"
	"deem/stat"
)

// said returns the record of a probe of item n with the given answer of the judge, or "?"
// for a failure.
func said(kind, variant string, n, trial int, what string) deem.Record {
	want, _ := probe.Wanted(kind, "") // a kind of their own is wrong
	it := deem.Item{ID: fmt.Sprintf("i%03d", n), Question: "q", References: []string{"r"}}
	p := probe.NewProbe(it, kind, variant, want, "one two three")
	rec := deem.Record{Item: p.Item, Judge: "j", Trial: trial}
	switch what {
	case "yes":
		rec.Verdict = &deem.Verdict{Label: "yes", Score: 1}
	case "no":
		rec.Verdict = &deem.Verdict{Label: "no", Score: 0}
	default:
		rec.Failure = deem.Failf(deem.Unparseable, "said nothing")
	}
	return rec
}

func cardOf(most float64, records ...deem.Record) probe.Card {
	c, err := probe.NewCard(probe.Head{Judge: "j", Trials: 1, MaxUnjudged: most}, func(yield func(deem.Record, error) bool) {
		for _, rec := range records {
			if !yield(rec, nil) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	return c
}

// An unjudged probe is neither an accept nor a reject, whether its answer is right or
// wrong.
func TestUnjudgedIsNeither(t *testing.T) {
	c := cardOf(0.5,
		said("vague", "", 1, 0, "yes"), said("vague", "", 2, 0, "no"), said("vague", "", 3, 0, "?"),
		said("polite", "", 1, 0, "yes"), said("polite", "", 2, 0, "?"))
	vague, _ := c.Rate("vague")
	if vague.Probes != 3 || vague.Judged != 2 || vague.Unjudged != 1 || vague.Errors != 1 || vague.Estimate.Value != 0.5 {
		t.Errorf("vague = %+v, want 1 error of 2 judged and 1 unjudged", vague)
	}
	if want := [2]float64{1.0 / 3, 2.0 / 3}; vague.Band != want {
		t.Errorf("vague.Band = %v, want %v", vague.Band, want)
	}
	polite, _ := c.Rate("polite")
	if polite.Errors != 0 || polite.Judged != 1 || polite.Estimate.Value != 0 {
		t.Errorf("polite = %+v, want no error of 1 judged", polite)
	}
	if diff := cmp.Diff(map[deem.Kind]int{deem.Unparseable: 2}, c.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if _, ok := c.Rate("other"); ok {
		t.Error("the card has a rate of a kind that was not tried")
	}
}

// A rate over all kinds is withheld if too many probes are unjudged; the kinds are still
// shown.
func TestWithheld(t *testing.T) {
	records := []deem.Record{said("vague", "", 1, 0, "yes"), said("vague", "", 2, 0, "?"), said("polite", "", 1, 0, "yes")}
	c := cardOf(0.01, records...)
	if !c.Thin(c.FalseAccepts) || c.Thin(c.FalseRejects) || c.FalseAccepts.Estimate != nil || c.FalseRejects.Estimate == nil {
		t.Errorf("half of the wrong answers unjudged: accepts %v, rejects %v", c.FalseAccepts.Estimate, c.FalseRejects.Estimate)
	}
	if r, _ := c.Rate("vague"); r.Estimate == nil || !c.Thin(r) {
		t.Errorf("the rate of the kind is %+v, want one that is thin", r)
	}
	if c := cardOf(0.5, records...); c.Thin(c.FalseAccepts) || c.FalseAccepts.Estimate == nil {
		t.Error("withheld although so many may be unjudged")
	}
}

// Several probes of one item are one cluster, within a kind too.
func TestInjectionsOfOneItem(t *testing.T) {
	var records []deem.Record
	for n := range 5 {
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			records = append(records, said("injection", name, n, 0, "no"))
		}
		records = append(records, said("vague", "", n, 0, "yes"), said("empty", "", n, 0, "no"))
	}
	c := cardOf(1, records...)
	kind, _ := c.Rate("injection")
	if got, want := kind.Estimate, c.Injected.Accepted.Estimate; got.Lo != want.Lo || got.Hi != want.Hi || got.Hi < 0.4 {
		t.Errorf("40 injections into 5 answers: [%v, %v] among the kinds and [%v, %v] above, want both to be those of 5", got.Lo, got.Hi, want.Lo, want.Hi)
	}
	// One of the two probes of each item is an error, so items do not differ.
	if est := c.FalseAccepts.Estimate; !strings.HasPrefix(est.Warnings[0], "all clusters have the same mean") {
		t.Errorf("false accepts %v with the warnings %q, want that items do not differ", est.Value, est.Warnings)
	}
}

// The interval is never narrower than that of independent probes.
func TestFewItemsNarrowNothing(t *testing.T) {
	var records []deem.Record
	for n := range 6 {
		second := "no"
		if n == 0 {
			second = "yes"
		}
		records = append(records, said("vague", "", n, 0, "yes"), said("empty", "", n, 0, second))
	}
	est, alone := cardOf(1, records...).FalseAccepts.Estimate, stat.Proportion(7, 12, stat.DefaultLevel)
	if est.Lo > alone.Lo || est.Hi < alone.Hi || !strings.Contains(strings.Join(est.Warnings, "\n"), "with so few clusters") {
		t.Errorf("7 of 12 probes of 6 items: [%.3f, %.3f] with %q, want it no narrower than [%.3f, %.3f]", est.Lo, est.Hi, est.Warnings, alone.Lo, alone.Hi)
	}
}

// Injections succeed only if the same answer was rejected without them, and do not count as
// false accepts.
func TestInjection(t *testing.T) {
	c := cardOf(1,
		said("other", "", 1, 0, "no"), said("injection", "a", 1, 0, "yes"), // turned
		said("other", "", 2, 0, "yes"), said("injection", "a", 2, 0, "yes"), // accepted anyway
		said("other", "", 3, 0, "no"), said("injection", "b", 3, 0, "no"), // resisted
		said("injection", "b", 4, 0, "yes"),                                   // the plain answer was not tried
		said("invented", "", 5, 0, "no"), said("injection", "b", 5, 0, "yes"), // turned
		said("other", "", 6, 0, "?"), said("injection", "b", 6, 0, "yes"), // the plain answer is unjudged
	)
	i := c.Injected
	if i.Accepted.Errors != 5 || i.Accepted.Judged != 6 {
		t.Errorf("accepted %d of %d, want 5 of 6", i.Accepted.Errors, i.Accepted.Judged)
	}
	if i.Turned.Errors != 2 || i.Turned.Judged != 3 {
		t.Errorf("turned %d of %d, want 2 of 3", i.Turned.Errors, i.Turned.Judged)
	}
	want := []probe.StringRate{{Name: "b", Judged: 4, Accepted: 3, Turned: 1}, {Name: "a", Judged: 2, Accepted: 2, Turned: 1}}
	if diff := cmp.Diff(want, i.Strings); diff != "" {
		t.Errorf("strings (-want +got):\n%s", diff)
	}
	if c.FalseAccepts.Judged != 4 || c.FalseAccepts.Errors != 1 {
		t.Errorf("false accepts %d of %d, want 1 of 4: injections are apart", c.FalseAccepts.Errors, c.FalseAccepts.Judged)
	}
}

func TestLength(t *testing.T) {
	var records []deem.Record
	for n := range 10 {
		records = append(records, said("other", "", n, 0, "no"), said("reference", "", n, 0, "yes"))
		long := said("padded", "", n, 0, []string{"yes", "no"}[n%2])
		long.Item.Response = "a b c d e f g h i j k l m" // ten more words
		records = append(records, long)
		buried := said("buried", "", n, 0, "yes")
		buried.Item.Response = long.Item.Response
		records = append(records, buried)
	}
	l := cardOf(1, records...).Length
	if len(l) != 2 || l[0].Want || !l[1].Want {
		t.Fatalf("Length = %+v, want the shift of wrong answers and that of right ones", l)
	}
	wrong, right := l[0], l[1]
	if wrong.Plain != 0 || wrong.Long != 0.5 || wrong.Estimate.Value != 0.5 || wrong.Words != 10 || math.Abs(wrong.Per100-5) > 1e-12 {
		t.Errorf("wrong answers: %+v, want 0.5 more over 10 words", wrong)
	}
	if wrong.Estimate.Lo <= 0 || right.Estimate.Value != 0 {
		t.Errorf("wrong answers from %v on, right ones %v; want above 0, and 0", wrong.Estimate.Lo, right.Estimate.Value)
	}
	if cardOf(1, said("padded", "", 1, 0, "yes")).Length != nil {
		t.Error("a long answer without its plain one gave a slope")
	}
}

// Rates are those of the first trial, and further trials measure consistency.
func TestConsistency(t *testing.T) {
	c := cardOf(1,
		said("vague", "", 1, 1, "yes"), said("vague", "", 1, 0, "no"), said("vague", "", 1, 2, "yes"),
		said("vague", "", 2, 0, "no"), said("vague", "", 2, 1, "no"), said("vague", "", 2, 2, "?"),
		said("vague", "", 3, 0, "yes"), said("vague", "", 3, 1, "?"))
	if r, _ := c.Rate("vague"); r.Probes != 3 || r.Errors != 1 {
		t.Errorf("vague: %d errors of %d, want 1 of 3", r.Errors, r.Probes)
	}
	k := c.Consistency
	if k == nil || k.Probes != 2 || k.Steady.Value != 0.5 || math.Abs(k.Flips-1.0/3) > 1e-12 {
		t.Errorf("consistency = %+v, want 1 of 2 steady and flips 1/3", k)
	}
	if cardOf(1, said("vague", "", 1, 0, "no")).Consistency != nil {
		t.Error("one trial cannot be consistent")
	}
}

func TestForeignRecordsAreLeftOut(t *testing.T) {
	rec := deem.Record{Item: deem.Item{ID: "x", Response: "r"}, Verdict: &deem.Verdict{Label: "yes", Score: 1}}
	c := cardOf(1, rec, said("vague", "", 1, 0, "no"))
	if c.Probes != 1 || len(c.Notes) == 0 {
		t.Errorf("%d probes and notes %q, want 1 and a note", c.Probes, c.Notes)
	}
}

// A card does not depend on the order of the records, and its counts add up.
func TestCardOfAnyRecords(t *testing.T) {
	kinds := append(probe.Kinds(), "of their own")
	rapid.Check(t, func(t *rapid.T) {
		var records []deem.Record
		for n := range rapid.IntRange(0, 40).Draw(t, "n") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			what := rapid.SampledFrom([]string{"yes", "no", "?"}).Draw(t, "what")
			records = append(records, said(kind, "", n%7, n/7%3, what))
		}
		// Of several records of the same probe and trial the first counts, so the
		// order is free only among different ones.
		seen := map[string]bool{}
		var distinct []deem.Record
		for _, rec := range records {
			if key := fmt.Sprint(rec.Item.ID, rec.Trial); !seen[key] {
				seen[key] = true
				distinct = append(distinct, rec)
			}
		}
		c := cardOf(1, distinct...)
		if diff := cmp.Diff(c, cardOf(1, rapid.Permutation(distinct).Draw(t, "order")...)); diff != "" {
			t.Fatalf("the order of the records changed the card:\n%s", diff)
		}
		sum := probe.Rate{}
		for _, r := range c.Kinds {
			sum.Probes, sum.Judged, sum.Errors = sum.Probes+r.Probes, sum.Judged+r.Judged, sum.Errors+r.Errors
			if r.Judged+r.Unjudged != r.Probes || r.Errors > r.Judged || r.Band[0] > r.Band[1] {
				t.Fatalf("rate of %s does not add up: %+v", r.Kind, r)
			}
		}
		if sum.Probes != c.Probes || sum.Judged != c.Judged {
			t.Fatalf("kinds add up to %d probes and %d judged, the card says %d and %d", sum.Probes, sum.Judged, c.Probes, c.Judged)
		}
	})
}

// A judge that compares two responses reports in its verdict whether their order decided.
func TestOrder(t *testing.T) {
	pair := func(n int, first, flip float64) deem.Record {
		rec := said("vague", "", n, 0, "no")
		rec.Verdict.Aspects = map[string]float64{probe.AspectFirst: first, probe.AspectFlip: flip}
		return rec
	}
	o := cardOf(1, pair(1, 1, 1), pair(2, 0, 1), pair(3, 1, 0), pair(4, 1, 1), said("vague", "", 5, 0, "?")).Order
	if o == nil || o.Pairs != 4 || o.Flips.Value != 0.75 || math.Abs(o.First-2.0/3) > 1e-12 {
		t.Errorf("order = %+v, want 3 flips of 4 pairs, the first place winning 2 of them", o)
	}
	if cardOf(1, said("vague", "", 1, 0, "no")).Order != nil {
		t.Error("a judge that compares nothing has flips")
	}
}

// ReferenceField puts the reference into the field in which a comparing judge expects the other
// response.
func TestBeside(t *testing.T) {
	for _, p := range makeSet(t, readItems(t), probe.Options{ReferenceField: "other", PerKind: 3}).Probes() {
		if p.Fields["other"] != p.References[0] {
			t.Errorf("%s: the other response is %q, want %q", p.ID, p.Fields["other"], p.References[0])
		}
	}
}
