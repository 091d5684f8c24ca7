package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/report"
	"deem/stat"
)

// inCategories returns records of categories, given the number of right items and of all
// items in each.
func inCategories(parts map[string][2]int) []deem.Record {
	var recs []deem.Record
	for name, p := range parts {
		for i := range p[1] {
			rec := yes(len(recs), i < p[0])
			rec.Item.Category = name
			recs = append(recs, rec)
		}
	}
	return recs
}

// For independent items the interval is Newcombe's, at a level at which three intervals
// hold simultaneously with 95% confidence, and p is the larger of Newcombe's and Fisher's.
func TestContrastIsNewcombes(t *testing.T) {
	r := build(head(), inCategories(map[string][2]int{"a": {30, 40}, "b": {20, 50}, "c": {33, 60}})).Report()
	a := r.Categories[0].Rest
	newcombe := func(level float64) stat.Estimate {
		return stat.Difference(stat.Proportion(30, 40, level), stat.Proportion(53, 110, level), level)
	}
	want := newcombe(1 - 0.05/3)
	if !near(a.Difference.Value, want.Value) || !near(a.Difference.Lo, want.Lo) || !near(a.Difference.Hi, want.Hi) {
		t.Errorf("difference = %+v, want %+v", a.Difference, want)
	}
	fisher := stat.FisherExact(stat.Stratum{K1: 30, N1: 40, K2: 53, N2: 110}).P
	if edge := newcombe(1 - a.P); a.P != fisher || edge.Lo < 0 {
		t.Errorf("p = %v, want %v of Fisher's test, which is larger here than Newcombe's", a.P, fisher)
	}
	for _, c := range r.Categories {
		if got, want := c.Rest.PAdjusted, math.Min(1, 3*c.Rest.P); got != want {
			t.Errorf("adjusted p of %s = %v, want %v", c.Name, got, want)
		}
	}
}

// Two categories make one comparison and need no correction.
func TestContrastOfTwo(t *testing.T) {
	r := build(head(), inCategories(map[string][2]int{"a": {30, 40}, "b": {20, 50}})).Report()
	a, b := r.Categories[0].Rest, r.Categories[1].Rest
	if a.P != a.PAdjusted || math.Abs(a.P-b.P) > 1e-6 || !near(a.Difference.Value, -b.Difference.Value) {
		t.Errorf("contrasts %+v and %+v, want one seen from both sides and p as it is", a, b)
	}
}

func TestContrastMarks(t *testing.T) {
	tests := []struct {
		name  string
		parts map[string][2]int
		want  []string
	}{
		{"one is hard", map[string][2]int{"a": {80, 100}, "b": {75, 100}, "c": {20, 100}}, []string{"a", "b", "c"}},
		{"one is a little easier", map[string][2]int{"a": {70, 100}, "b": {66, 100}, "c": {64, 100}}, nil},
		{"three right answers prove nothing", map[string][2]int{"a": {3, 3}, "b": {60, 100}, "c": {58, 100}}, nil},
		{"all right", map[string][2]int{"a": {30, 30}, "b": {30, 30}}, nil},
		{"one item each", map[string][2]int{"a": {1, 1}, "b": {0, 1}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := build(head(), inCategories(tt.parts)).Report()
			var got []string
			for _, c := range r.Categories {
				if c.Differs() {
					got = append(got, c.Name)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v differ from the rest, want %v", got, tt.want)
			}
			if said := strings.Contains(text(t, r), " than the rest: "); said != (len(tt.want) > 0) {
				t.Errorf("the text says that a category differs: %v, want %v", said, len(tt.want) > 0)
			}
		})
	}
}

// A category without a verdict, or one that contains all items, has nothing to be compared
// with.
func TestContrastOfNothing(t *testing.T) {
	h := head()
	h.MaxUnjudged = new(1.0)
	recs := inCategories(map[string][2]int{"a": {3, 5}, "b": {2, 5}})
	for i := range recs {
		if recs[i].Item.Category == "b" {
			recs[i].Verdict, recs[i].Failure = nil, deem.Failf(deem.Empty, "")
		}
	}
	for _, c := range build(h, recs).Report().Categories {
		if c.Rest != nil {
			t.Errorf("category %s is beside %+v, want nothing", c.Name, c.Rest)
		}
	}
	for _, c := range build(head(), inCategories(map[string][2]int{"a": {3, 5}})).Report().Categories {
		if c.Rest != nil {
			t.Errorf("the only category is beside %+v, want nothing", c.Rest)
		}
	}
}

// If no category differs, a report rarely says that one does, with and without clusters
// that make all items of a conversation hard or easy.
func TestContrastFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	runs, most := 120, 13 // the probability is at most 0.05; 13 is three standard errors above
	if raced {
		runs, most = 20, 4
	}
	for _, tt := range []struct {
		name      string
		clusters  int
		fractions bool
	}{{"independent", 0, false}, {"scores", 0, true}, {"clusters", 40, false}, {"clusters with scores", 40, true}} {
		t.Run(tt.name, func(t *testing.T) {
			alarms := 0
			for run := range runs {
				rng := rand.New(rand.NewPCG(uint64(run), 9))
				recs := clustered(rng, max(tt.clusters, 1), 240, tt.fractions)
				for i := range recs {
					recs[i].Item.Category = fmt.Sprint(rng.IntN(4))
					if tt.clusters == 0 {
						recs[i].Item.Cluster = ""
					}
				}
				if slices.ContainsFunc(build(head(), recs).Report().Categories, report.Category.Differs) {
					alarms++
				}
			}
			if alarms > most {
				t.Errorf("%d of %d runs without a difference show one, want some %d", alarms, runs, runs/20)
			}
			t.Logf("%d false alarms in %d runs", alarms, runs)
		})
	}
}

// Two categories that occur in the same conversations are compared within them, so the
// difficulty of a conversation does not blur the difference.
func TestContrastWithinClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var recs []deem.Record
	for c := range 40 {
		ease := []float64{0.05, 0.95}[c%2]
		for i := range 20 {
			rec := yes(len(recs), rng.Float64() < ease)
			rec.Item.Cluster, rec.Item.Category = fmt.Sprint(c), []string{"a", "b"}[i%2]
			recs = append(recs, rec)
		}
	}
	r := build(head(), recs).Report()
	d, whole := r.Categories[0].Rest.Difference, r.Metrics[0].Judged
	if width, of := d.Hi-d.Lo, whole.Hi-whole.Lo; width > of/2 {
		t.Errorf("the interval of the difference is %v wide, that of the score %v: want less than half", width, of)
	}
}
