package stat

import "math"

// What tests outside the package must see inside.
var (
	BetaQuantile = betaQuantile
	BinomialMass = binomialMass
	QuantileOf   = quantileOf
)

// BootstrapMeanWith returns the bootstrap interval that follows from the resamples in
// indices, each of which lists places in values. BCa asks which resampled means are below
// the mean and which are equal to it, and a resample with the values in another order may
// differ from it by rounding. So means are rounded as NumPy rounds them here.
func BootstrapMeanWith(indices [][]int, values []float64, level float64, method BootstrapMethod) Estimate {
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

const (
	WarnCertain           = warnCertain
	WarnChance            = warnChance
	WarnCutOff            = warnCutOff
	WarnFewDraws          = warnFewDraws
	WarnNegative          = warnNegative
	WarnNoBCa             = warnNoBCa
	WarnNoDifference      = warnNoDifference
	WarnNoLabels          = warnNoLabels
	WarnNoSpreadUnbounded = warnNoSpreadUnbounded
	WarnNoValues          = warnNoValues
	WarnNoWidth           = warnNoWidth
	WarnOneCluster        = warnOneCluster
	WarnOneKind           = warnOneKind
	WarnOneRated          = warnOneRated
	WarnOneValue          = warnOneValue
	WarnRange             = warnRange
	WarnSeparated         = warnSeparated
	WarnSkipped           = warnSkipped
	WarnTwoPairs          = warnTwoPairs
	WarnUndefined         = warnUndefined
)

// Kappa returns Cohen's kappa of a square table of counts.
func Kappa(table [][]int, level float64) Estimate {
	return WeightedKappa(table, Unweighted, level)
}

// WeightedKappa returns Cohen's kappa of a square table of counts with the interval of
// Fleiss, Cohen and Everitt, which published programs print.
func WeightedKappa(table [][]int, w Weighting, level float64) Estimate {
	t, negative := newCrossTable(table, w)
	est := t.estimate(Design{}, level)
	if negative {
		est = est.Warn(warnNegative)
	}
	return est
}

// KappaNullSE returns the standard error that weighted kappa would have if the judges
// agreed by chance alone: formula 9 of Fleiss, Cohen and Everitt (1969). It is 0 where
// kappa is not defined.
func KappaNullSE(table [][]int, w Weighting) float64 {
	t, _ := newCrossTable(table, w)
	if t.n == 0 || !t.defined() {
		return 0
	}
	sum := 0.0
	for i := range t.share {
		for j := range t.share {
			d := t.weight[i][j] - (t.rowMean[i] + t.colMean[j])
			sum += float64(t.rows[i] * t.cols[j] * d * d)
		}
	}
	return math.Sqrt(t.scaled(sum - float64(t.expected*t.expected)))
}

// newCrossTable returns the shares of a table, which may be ragged: what is missing
// counts as 0. It leaves counts below 0 out, and reports whether there was one.
func newCrossTable(table [][]int, w Weighting) (t *crossTable, negative bool) {
	k := len(table)
	for _, row := range table {
		k = max(k, len(row))
	}
	counts, n := Crossed(matrix(k)), 0
	for i, row := range table {
		for j, c := range row {
			negative = negative || c < 0
			counts[i][j] = float64(max(c, 0))
			n += max(c, 0)
		}
	}
	return counts.table(w, n), negative
}
