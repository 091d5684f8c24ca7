package compare

import (
	"cmp"
	"maps"
	"slices"

	"deem/internal/agreement"
	"deem/stat"
)

// ranking ranks the runs by their scores over the items that all of them judged.
//
// A run's rank is one plus the number of runs that are better. A run that is
// indistinguishable from the one above it does not share its rank if it is worse than a run
// further up: otherwise a long chain of small steps would make the first and the last
// equal.
func (b *Builder) ranking(runs []Run, pairings []Pairing, metric string) *Ranking {
	r := &Ranking{Pairs: pairings, Cochran: b.cochran(metric)}
	better := make([]int, len(runs))
	for _, p := range pairings {
		switch p.Outcome {
		case Better:
			better[p.First]++
		case Worse:
			better[p.Second]++
		}
	}
	for i := range runs {
		judged := &b.common[i].score
		if metric == PassRate {
			judged = &b.common[i].pass
		}
		r.Ordered = r.Ordered || better[i] > 0
		r.Places = append(r.Places, Place{Rank: 1 + better[i], Run: i, Name: runs[i].Name, Estimate: judged.share(b.opts.Level, binary(metric))})
	}
	slices.SortStableFunc(r.Places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(y.Estimate.Value, x.Estimate.Value))
	})
	for i := range r.Places {
		if !r.Ordered {
			r.Places[i].Rank = 0
		}
	}
	return r
}

// cochran tests whether all runs are equally good: by Cochran's test, or by a permutation
// test that keeps clusters, and the trials of an item, together.
func (b *Builder) cochran(metric string) *stat.Test {
	if len(b.runs) < 3 || !binary(metric) {
		return nil
	}
	// A row says how many items of a cluster every run passes. An item without a cluster is
	// its own cluster.
	rows := append(slices.Collect(maps.Values(b.clusters)), b.split...)
	for pattern, n := range b.crowds {
		row := make([]float64, len(pattern))
		for i := range row {
			row[i] = float64(pattern[i])
		}
		rows = append(rows, slices.Repeat([][]float64{row}, n)...)
	}
	if b.common[0].score.several || len(b.split) > 0 {
		return new(agreement.ClusteredQ(rows, b.opts.Seed))
	}
	return new(agreement.CochranQ(rows)) // rows of one item each
}
