package agreement

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"deem/stat"
)

// warnNoneDiffers is the warning of a test without an item that tells the runs apart.
const warnNoneDiffers = "no item tells the runs apart, so there is nothing to test: p is 1"

// CochranQ returns the test of whether several runs pass equally often on the same items.
// Each row is an item, and has a 1 for each run that passes it and a 0 for the others. With
// two runs it is McNemar's test without correction.
//
// Source: W. G. Cochran, "The comparison of percentages in matched samples", Biometrika 37
// (1950), 256-266. It is valid when items on which the runs differ, times runs, are some 24
// or more.
func CochranQ(rows [][]float64) stat.Test {
	test := stat.Test{P: 1, Method: "cochran-q", N: len(rows)}
	var totals []float64
	all, squares := 0.0, 0.0
	for _, row := range rows {
		if totals == nil {
			totals = make([]float64, len(row))
		}
		yes := 0.0
		for j, x := range row {
			yes += x
			totals[j] += x
		}
		all += yes
		squares += yes * yes
	}
	k := float64(len(totals))
	// What is below the line counts the verdicts that differ within their item.
	below := k*all - squares
	if below == 0 {
		test.Warnings = []string{warnNoneDiffers}
		return test
	}
	above := -all * all
	for _, x := range totals {
		above += k * x * x
	}
	test.Statistic = (k - 1) * above / below
	test.P = mathext.GammaIncRegComp((k-1)/2, test.Statistic/2) // of the chi-squared distribution
	return test
}

// ClusteredQ is Cochran's test for items in clusters, with a p-value from permutations. Each
// row is a cluster, and has the number of its items that each run passes. If no run is
// better, the numbers of a cluster could as well have come in another order, so whole
// clusters are permuted: 9999 times, and fewer for very many clusters, and the order that
// was observed counts as one more. The statistic is the sum of the squared deviations of
// the totals from their mean. N is how many rows have numbers that differ.
//
// Source: W. G. Cochran (1950) for the statistic and E. J. G. Pitman, "Significance tests
// which may be applied to samples from any populations III", Biometrika 29 (1938), 322-335,
// for its distribution under permutations. It is exact for independent clusters within which
// the runs are exchangeable.
func ClusteredQ(rows [][]float64, seed uint64) stat.Test {
	test := stat.Test{P: 1, Method: "cluster-permutation-q"}
	var kept [][]float64
	for _, row := range rows {
		if slices.Max(row) != slices.Min(row) {
			kept = append(kept, slices.Clone(row))
		}
	}
	test.N = len(kept)
	if test.N == 0 {
		test.Warnings = []string{warnNoneDiffers}
		return test
	}
	slices.SortFunc(kept, slices.Compare) // the order of the rows changes no digit
	totals := make([]float64, len(kept[0]))
	spread := func() float64 {
		clear(totals)
		for _, row := range kept {
			for j, x := range row {
				totals[j] += x
			}
		}
		mean, sum := 0.0, 0.0
		for _, x := range totals {
			mean += x / float64(len(totals))
		}
		for _, x := range totals {
			sum += float64((x - mean) * (x - mean))
		}
		return sum
	}
	test.Statistic = spread()
	draws := max(min(9999, 20_000_000/(len(totals)*test.N)), 999)
	rng := rand.New(rand.NewPCG(seed, uint64(test.N)))
	extreme := 1
	for range draws {
		for _, row := range kept {
			rng.Shuffle(len(row), func(i, j int) { row[i], row[j] = row[j], row[i] })
		}
		if spread() >= test.Statistic*(1-1e-9) {
			extreme++
		}
	}
	test.P = float64(extreme) / float64(draws+1)
	return test
}
