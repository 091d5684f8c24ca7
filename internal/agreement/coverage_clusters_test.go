package agreement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"deem"
	"deem/internal/reports/agree"
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
// carries one of the warnings that it may be off.
func held(est stat.Estimate, truth float64, warnings ...string) outcome {
	has := func(warning string) bool { return slices.Contains(est.Warnings, warning) }
	return outcome{
		hit:    est.Lo <= truth && truth <= est.Hi,
		none:   est.Method == stat.MethodNone,
		warned: slices.ContainsFunc(warnings, has) || slices.ContainsFunc(wideWarnings, has),
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

// meanCells are mean scores of independent items that are nearly all equal.
func meanCells() []cell {
	var cells []cell
	for _, n := range []int{30, 50, 100, 300} {
		for _, equal := range []float64{0.5, 0.9, 0.95, 0.99} {
			cells = append(cells, cell{
				name: fmt.Sprintf("mean score, %d items, %g%% of them 1", n, 100*equal), want: nominal,
				draw: func(rng *rand.Rand) outcome {
					var m stat.Moments
					for range n {
						x := 1.0
						if rng.Float64() >= equal {
							x = rng.Float64()
						}
						m.Add(x, 1)
					}
					est := stat.Mean(m, 0.95, stat.Unit)
					o := held(est, 1-(1-equal)/2)
					o.warned = len(est.Warnings) > 0
					return o
				},
			})
		}
	}
	return cells
}

// warningsOfFew returns the warnings of an interval of clusters that agree better than their
// items, of clusters with the same mean, and of equal values.
func warningsOfFew() []string {
	var equal stat.Clustered
	for i := range 60 {
		equal.Add(fmt.Sprint(i/2), float64(i%2), 1)
	}
	var values stat.Moments
	values.Add(1, 1)
	values.Add(1, 1)
	lucky := stat.Estimate{Clusters: 2}.AtLeastAsWide(stat.Estimate{Hi: 1})
	return slices.Concat(lucky.Warnings, equal.Mean(0.95, stat.Unit).Warnings, stat.Mean(values, 0.95, stat.Unit).Warnings)
}

// clusterWarnings say that an interval may be too narrow, and wideWarnings that it may be
// too wide.
var (
	clusterWarnings = []string{stat.ClusterWarning(8, false), stat.ClusterWarning(30, true)}
	wideWarnings    = slices.Concat([]string{stat.ClusterWarning(2, false), agree.WarnFewInStrata}, warningsOfFew())
)
