package stat

import "math"

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
func (d Design) effect() float64 {
	if d.Effect == 0 {
		return 1
	}
	return d.Effect
}

// quantile returns Student's quantile for the design, or that of the normal distribution
// for independent items.
func (d Design) quantile(level float64) float64 {
	if d.DF == 0 {
		return normalQuantile(level)
	}
	return tQuantile(level, d.DF)
}

// mark returns an estimate with the warnings about its clusters, and without an interval if
// there is only one cluster.
func (d Design) mark(e Estimate, b Bounds) Estimate {
	e.Clusters = d.Clusters
	switch {
	case d.Clusters == 0 || e.Method == MethodNone:
		return e
	case d.Clusters == 1:
		none := unknown(e.Value, e.N, e.Level, b, warnOneCluster)
		none.Clusters = 1
		return none
	case d.Clusters < FewClusters:
		return e.Warn(fewClusters(d.Clusters))
	case d.Few:
		return e.Warn(WarnFewHold)
	}
	return e
}

// Widen returns an estimate with its interval widened from independent items to the design.
func (d Design) Widen(e Estimate) Estimate {
	if d.Clusters == 0 {
		return e
	}
	factor := math.Sqrt(d.effect()) * d.quantile(e.Level) / normalQuantile(e.Level)
	e.Lo, e.Hi = e.Value-float64(factor*(e.Value-e.Lo)), e.Value+float64(factor*(e.Hi-e.Value))
	e.SE *= math.Sqrt(d.effect())
	return d.mark(e, Unit)
}

// Share returns a share p that was estimated from n items, with Wilson's interval for the
// number of independent items that n items of this design are worth.
//
// Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
// expected number of positive counts estimated from survey data", Survey Methodology 24
// (1998), 193-201, for the effective number of items; N. Dean and M. Pagano (2015), as at
// [Clustered.Mean], for Wilson's shape.
func (d Design) Share(p float64, n int, level float64) Estimate {
	if n <= 0 {
		return ProportionAt(0, n, level)
	}
	level, warning := checkLevel(level)
	est := Estimate{Value: Unit.clip(p), Level: level, N: n, Method: MethodWilson}
	est.Lo, est.Hi = wilsonEnds(est.Value, float64(n)/d.effect(), d.quantile(level))
	if d.effect() != 1 {
		est.EffectiveN = float64(n) / d.effect()
	}
	return warnIf(d.mark(est, Unit), warning)
}

// A Cluster is the sums over one cluster: the weight of its items, and the sum of weight
// times influence. The influence of an item is how much an estimate changes with it;
// influences have the weighted mean 0.
type Cluster struct{ Weight, Influence float64 }

// InClusters returns the design of an estimate from the influence of its items, summed over
// clusters and for each item separately. If no item has any influence, for example because
// the judge is never wrong, each cluster counts as one item. A few clusters may by chance
// vary less than their items, and then count as much as independent items, not more.
func InClusters(whole, apart []Cluster) Design {
	d := Design{Clusters: len(whole), Effect: float64(len(apart)) / float64(max(len(whole), 1))}
	list := sumsOfClusters(whole)
	se, df := robustError(list)
	alone, _ := robustError(sumsOfClusters(apart))
	d.DF = df
	if alone > 1e-12 {
		d.Effect = se / alone * se / alone
		d.Few = spreadOver(list) < fewHold
	}
	if d.Clusters < FewClusters {
		d.Effect = max(d.Effect, 1)
	}
	return d
}

func sumsOfClusters(clusters []Cluster) []clusterSum {
	list := make([]clusterSum, len(clusters))
	for i, c := range clusters {
		list[i] = clusterSum{w: c.Weight, excess: c.Influence}
	}
	return list
}
