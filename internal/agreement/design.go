package agreement

import (
	"cmp"
	"math"

	"deem/stat"
)

// A Design describes how much less information a sample has than independent items of equal
// weight, because items come in clusters or were drawn with unequal probabilities. The zero
// value means independent items of equal weight.
type Design struct {
	// Effect is the variance of an estimate divided by its variance for the same number of
	// independent items (Kish 1965); 0 means 1.
	Effect float64

	// DF are the degrees of freedom of that variance; 0 means the number of items.
	DF float64

	// Clusters is the number of clusters, 0 for none.
	Clusters int

	// Few reports whether a few clusters have most of the spread.
	Few bool
}

// effect returns the design effect.
func (d Design) effect() float64 { return cmp.Or(d.Effect, 1) }

// quantile returns Student's quantile for the design, or that of the normal distribution
// for independent items.
func (d Design) quantile(level float64) float64 {
	if d.DF == 0 {
		return normalQuantile(level)
	}
	return stat.StudentQuantile(level, d.DF)
}

// mark returns an estimate with the warnings about its clusters, and without an interval if
// there is only one cluster.
func (d Design) mark(e stat.Estimate, b stat.Bounds) stat.Estimate {
	e.Clusters = d.Clusters
	if d.Clusters == 0 || e.Method == stat.MethodNone {
		return e
	}
	warning := stat.ClusterWarning(d.Clusters, d.Few)
	switch {
	case warning == "":
		return e
	case d.Clusters == 1:
		none := stat.NoInterval(e.Value, e.N, e.Level, b, warning)
		none.Clusters = 1
		return none
	}
	return e.Warn(warning)
}

// Share returns a share p that was estimated from n items, with Wilson's interval for the
// number of independent items that n items of this design are worth.
//
// Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
// expected number of positive counts estimated from survey data", Survey Methodology 24
// (1998), 193-201, for the effective number of items; N. Dean and M. Pagano (2015), as at
// [Clustered.Mean], for Wilson's shape.
func (d Design) Share(p float64, n int, level float64) stat.Estimate {
	if n <= 0 {
		return stat.Proportion(0, n, level)
	}
	est := stat.Estimate{Value: stat.Unit.Clip(p), Level: level, N: n, Method: "wilson"}
	est.Lo, est.Hi = stat.Wilson(est.Value, float64(n)/d.effect(), d.quantile(level))
	if d.effect() != 1 {
		est.EffectiveN = float64(n) / d.effect()
	}
	return d.mark(est, stat.Unit)
}

// InClusters returns the design of an estimate from the influence of its items, summed over
// clusters and for each item separately. If no item has any influence, for example because
// the judge is never wrong, the design is that of a judge that is wrong once, so that a judge
// without errors does not have a wider interval than one with a few. A few clusters may by
// chance vary less than their items, and then count as much as independent items, not more.
func InClusters(whole, apart []stat.Cluster) Design {
	alone, _, _ := stat.RobustError(apart)
	if alone <= 1e-12 && len(apart) > 1 {
		whole, apart = stat.OneMiss(whole, len(apart)), stat.OneMiss(apart, len(apart))
		alone, _, _ = stat.RobustError(apart)
	}
	d := Design{Clusters: len(whole), Effect: 1}
	se, df, few := stat.RobustError(whole)
	d.DF, d.Few = df, few
	if alone > 1e-12 {
		d.Effect = se / alone * se / alone
	}
	// Items of a cluster cannot be more alike than equal.
	if n, df := stat.AsItems(whole); n > 0 {
		most := Design{Effect: float64(len(apart)) / n, DF: df, Clusters: d.Clusters, Few: d.Few}
		if math.Sqrt(most.Effect)*most.quantile(stat.DefaultLevel) < math.Sqrt(d.Effect)*d.quantile(stat.DefaultLevel) {
			d = most
		}
	}
	if stat.ClusterWarning(d.Clusters, false) != "" { // few
		d.Effect = max(d.Effect, 1)
	}
	return d
}
