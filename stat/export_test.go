package stat

import "slices"

// What tests outside the package must see inside.
var (
	BetaQuantile = betaQuantile
	BinomialMass = binomialMass
	NeededNTwo   = neededNTwo
	BinomialTest = binomialTest
	MomentsOf    = momentsOf

	NeededNPaired = neededNPaired
)

// Has reports whether the estimate has the warning.
func (e Estimate) Has(warning string) bool { return slices.Contains(e.Warnings, warning) }

// Has reports whether the test has the warning.
func (t Test) Has(warning string) bool { return slices.Contains(t.Warnings, warning) }

// BootstrapMeanWith returns the bootstrap interval that follows from the resamples in
// indices, each of which lists places in values. BCa asks which resampled means are below
// the mean and which are equal to it, and a resample with the values in another order may
// differ from it by rounding. So means are rounded as NumPy rounds them here.
func BootstrapMeanWith(indices [][]int, values []float64, level float64, method string) Estimate {
	means := make([]float64, len(indices))
	for i, places := range indices {
		var picked []float64
		for _, at := range places {
			picked = append(picked, values[at])
		}
		means[i] = pairwise(picked) / float64(len(picked))
	}
	mean := pairwise(values) / float64(len(values))
	return resampled(MomentsOf(values), mean, means, level, method, skewness(values, nil, mean))
}

// pairwise returns the sum of the values, rounded as NumPy rounds it: in eight
// interleaved sums up to 128 values, and by halves above.
func pairwise(values []float64) float64 {
	n := len(values)
	switch {
	case n < 8:
		return sum(values)
	case n > 128:
		half := n / 2
		half -= half % 8
		return pairwise(values[:half]) + pairwise(values[half:])
	}
	r := [8]float64(values)
	i := 8
	for ; i+8 <= n; i += 8 {
		for j := range r {
			r[j] += values[i+j]
		}
	}
	total := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, x := range values[i:] {
		total += x
	}
	return total
}

// Unexported names for the tests.
type Alternative = alternative

const (
	Greater                = greater
	Less                   = less
	TwoSided               = twoSided
	MethodClusterBootstrap = methodClusterBootstrap
	WarnFewDraws           = warnFewDraws
	WarnNegative           = warnNegative
	WarnNoBCa              = warnNoBCa
	WarnNoDifference       = warnNoDifference
	WarnNoSpreadUnbounded  = warnNoSpreadUnbounded
	WarnOneValue           = warnOneValue
	WarnRange              = warnRange
	WarnSkewed             = warnSkewed
	WarnSkipped            = warnSkipped
	BootstrapBCa           = methodBCa
	BootstrapPercentile    = methodPercentile
	FewClusters            = fewClusters
	WarnFewClusters        = warnFewClusters
	WarnLucky              = warnLucky
	WarnNoSpread           = warnNoSpread
	WarnNoSpreadTest       = warnNoSpreadTest
	WarnOneCluster         = warnOneCluster
	WarnSteady             = warnSteady
	WarnSteadyDraws        = warnSteadyDraws
	WarnTooFew             = warnTooFew
	WarnVeryFewClusters    = warnVeryFewClusters
	WarnWeighted           = warnWeighted
)
