package agreement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"deem"
	"deem/internal/reports/agree"
	"deem/report"
	"deem/stat"
)

// clusterShares returns a share for each of n clusters, which scatter about the share p
// of all so that items of a cluster have the correlation icc.
func clusterShares(rng *rand.Rand, n int, p, icc float64) []float64 {
	if icc == 0 {
		return slices.Repeat([]float64{p}, n)
	}
	beta := distuv.Beta{Alpha: p * (1/icc - 1), Beta: (1 - p) * (1/icc - 1), Src: rng}
	shares := make([]float64, n)
	for i := range shares {
		shares[i] = beta.Rand()
	}
	return shares
}

// held returns what became of an interval: whether it holds the truth, and whether it
// carries one of the warnings that it may be too narrow, or too wide.
func held(est stat.Estimate, truth float64, warnings ...string) outcome {
	return outcome{
		hit:    est.Lo <= truth && truth <= est.Hi,
		none:   est.Method == stat.MethodNone,
		warned: slices.ContainsFunc(warnings, est.Has),
		wide:   slices.ContainsFunc(wideWarnings, est.Has),
	}
}

// record returns the record of an item with the verdict yes or no.
func record(id, cluster, category string, yes bool) deem.Record {
	v := &deem.Verdict{Label: "no"}
	if yes {
		v = &deem.Verdict{Label: "yes", Score: 1}
	}
	return deem.Record{Item: deem.Item{ID: id, Cluster: cluster, Category: category}, Verdict: v}
}

// clusterCells are the headline of a report over 5 to 30 clusters of 20 items.
func clusterCells() []cell {
	var cells []cell
	for _, n := range []int{5, 7, 10, 30} {
		for _, icc := range []float64{0, 0.05, 0.3} {
			for _, p := range []float64{0.5, 0.8, 0.95} {
				cells = append(cells, cell{
					name: fmt.Sprintf("report, %d clusters of 20, ICC %g, share %g", n, icc, p), want: nominal,
					draw: func(rng *rand.Rand) outcome {
						b := report.New(report.Head{})
						for i, share := range clusterShares(rng, n, p, icc) {
							for j := range 20 {
								b.Add(record(fmt.Sprint(i, " ", j), fmt.Sprint(i), "", rng.Float64() < share))
							}
						}
						return held(*b.Report().Metrics[0].Judged, p, clusterWarnings...)
					},
				})
			}
		}
	}
	return cells
}

// clusterWarnings say that an interval may be too narrow, and wideWarnings that it may be
// too wide.
var (
	clusterWarnings = []string{stat.WarnFewClusters, stat.WarnFewHold}
	wideWarnings    = []string{stat.WarnVeryFewClusters, stat.WarnLucky, stat.WarnSteady, stat.WarnNoSpread, agree.WarnFewInStrata}
)
