package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"deem/internal/benchmark/halumem"
	"deem/internal/benchmark/locomo"
	"deem/report"
	"deem/stat"
)

// TestOneInterval holds the table of a benchmark against the report of the same records:
// one number has one interval, and none from one conversation.
func TestOneInterval(t *testing.T) {
	for _, conversations := range []int{1, 3, 10, 40} {
		rng := rand.New(rand.NewPCG(uint64(conversations), 21))
		r, m := report.New(report.Head{}), locomo.NewMetrics("", "")
		for i, share := range clusterShares(rng, conversations, 0.7, 0.2) {
			for j := range 30 {
				rec := record(fmt.Sprint(i, " ", j), fmt.Sprint("conv-", i), []string{"1", "2", "4"}[j%3], rng.Float64() < share)
				r.Add(rec)
				m.Add(rec)
			}
		}
		rep := r.Report()
		same(t, fmt.Sprint(conversations, " conversations, overall"), *rep.Metrics[0].Judged, *m.Overall().Estimate)
		for i, line := range m.Categories() {
			same(t, fmt.Sprint(conversations, " conversations, category ", line.Category), *rep.Categories[i].Judged, *line.Estimate)
		}
	}
}

// The same holds for HaluMem, whose clusters are users. Its share of right answers is the
// category "qa" of the report.
func TestOneIntervalOfHaluMem(t *testing.T) {
	for _, users := range []int{1, 3, 20} {
		rng := rand.New(rand.NewPCG(uint64(users), 22))
		r, m := report.New(report.Head{}), halumem.NewMetrics("")
		for i, share := range clusterShares(rng, users, 0.7, 0.2) {
			for j := range 30 {
				rec := record(fmt.Sprint(i, " ", j), fmt.Sprint("user-", i), halumem.QA, rng.Float64() < share)
				rec.Verdict.Label = map[float64]string{0: "Omission", 1: "Correct"}[rec.Verdict.Score]
				r.Add(rec)
				m.Add(rec)
			}
		}
		for _, f := range m.Summary().Metrics {
			if f.Name == "correct_qa_ratio" {
				same(t, fmt.Sprint(users, " users"), *r.Report().Categories[0].Judged, *f.Valid)
			}
		}
	}
}

// same fails if two estimates of one number differ.
func same(t *testing.T, name string, want, got stat.Estimate) {
	t.Helper()
	for _, pair := range [][2]float64{{want.Value, got.Value}, {want.Lo, got.Lo}, {want.Hi, got.Hi}} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s: report %v [%v, %v] by %s, benchmark %v [%v, %v] by %s", name,
				want.Value, want.Lo, want.Hi, want.Method, got.Value, got.Lo, got.Hi, got.Method)
			return
		}
	}
	if (want.Method == stat.MethodNone) != (got.Method == stat.MethodNone) {
		t.Errorf("%s: methods %s and %s", name, want.Method, got.Method)
	}
}
