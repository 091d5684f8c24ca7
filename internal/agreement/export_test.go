package agreement

import (
	"math"

	"deem/stat"
)

// Unexported names for the tests.
const (
	ScaleInterval = scaleInterval
	ScaleOrdinal  = scaleOrdinal
	ScaleRatio    = scaleRatio

	WarnCertain   = warnCertain
	WarnChance    = warnChance
	WarnCutOff    = warnCutOff
	WarnNoLabels  = warnNoLabels
	WarnNoWidth   = warnNoWidth
	WarnOneKind   = warnOneKind
	WarnOneRated  = warnOneRated
	WarnSeparated = warnSeparated
	WarnTwoPairs  = warnTwoPairs
	WarnUndefined = warnUndefined
	WarnNegative  = warnNegative
	WarnRange     = warnRange
)

// Kappa returns Cohen's kappa of a square table of counts.
func Kappa(table [][]int, level float64) stat.Estimate {
	return WeightedKappa(table, Unweighted, level)
}

// WeightedKappa returns Cohen's kappa of a square table of counts with the interval of
// Fleiss, Cohen and Everitt, which published programs print.
func WeightedKappa(table [][]int, w Weighting, level float64) stat.Estimate {
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
