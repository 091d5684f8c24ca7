package compare

import (
	"cmp"
	"maps"
	"slices"

	"deem/stat"
)

// ranking orders the runs by their scores over the items that all of them judged.
//
// A run's rank is one more than the number of runs that are better beyond noise. That
// a run cannot be told from the one above it does not give it that one's rank, if it
// can be told from one further above: otherwise a long row of small steps would make
// the first and the last equal.
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
		r.Places = append(r.Places, Place{Rank: 1 + better[i], Run: i, Name: runs[i].Name, Estimate: judged.share(b.opts.Level, binary(metric))})
	}
	slices.SortStableFunc(r.Places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(y.Estimate.Value, x.Estimate.Value))
	})
	return r
}

// WarnClustersTest says that a test takes items for independent which are not.
const WarnClustersTest = "items come in clusters, and this test takes them for independent: its p is too small"

// cochran returns the test of whether all runs are equally good.
func (b *Builder) cochran(metric string) *stat.Test {
	if len(b.runs) < 3 || !binary(metric) {
		return nil
	}
	var table [][]bool
	for _, pattern := range slices.Sorted(maps.Keys(b.crowds)) {
		row := make([]bool, len(pattern))
		for i := range row {
			row[i] = pattern[i] == 1
		}
		for range b.crowds[pattern] {
			table = append(table, row)
		}
	}
	test := stat.CochranQ(table)
	if b.common[0].score.several {
		test = test.Warn(WarnClustersTest)
	}
	return &test
}
