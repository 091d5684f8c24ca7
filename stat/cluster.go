package stat

import (
	"cmp"
	"math"
	"slices"
)

// The methods of an interval for values in clusters.
const (
	methodClusterRobust    = "cluster-robust"
	methodClusterBootstrap = "cluster-bootstrap"
)

// The numbers of clusters below which an estimate has a warning. In simulations (make
// coverage), an interval at 0.95 from 5 clusters contains the truth in 0.93 to 0.99 of the
// draws, and one from 10 in 0.93 to 0.98.
const (
	fewClusters     = 30
	veryFewClusters = 8
)

// The warnings about clusters.
const (
	warnFewClusters     = "fewer than 30 clusters: the interval may be too narrow where a few of them hold most failures"
	warnVeryFewClusters = "fewer than 8 clusters: how far clusters differ is hardly known, and the interval may be too narrow or too wide"
	warnFewHold         = "a few clusters hold most of the misses, or of the hits: the interval may be too narrow or too wide"

	warnOneCluster  = "one cluster gives no information about how clusters differ: there is no interval"
	warnLucky       = "with so few clusters the clustered interval came out narrower than the simple one: the wider one is shown"
	warnSteady      = "all clusters have the same mean, so how far clusters differ is unknown: the interval may be too narrow"
	warnSteadyDraws = "too many resamples have no spread: the interval is the cluster-robust one"
)

// ClusterWarning returns the warning about an interval from n clusters: for one cluster,
// fewer than 8, fewer than 30, or if a few of the clusters have most of the spread. It is ""
// for others.
func ClusterWarning(n int, few bool) string {
	switch {
	case n <= 1:
		return warnOneCluster
	case n < veryFewClusters:
		return warnVeryFewClusters
	case n < fewClusters:
		return warnFewClusters
	case few:
		return warnFewHold
	}
	return ""
}

// Clustered collects weighted values that come in clusters, such as the questions about one
// conversation. Values of one cluster are not independent, so they contain less information
// than their number suggests, and intervals must be wider. It keeps sums per cluster, so
// memory grows with clusters and not with values, and the order of the values changes no
// digit. The zero value is ready to use; copies share their sums.
type Clustered struct {
	all   Moments
	named map[string]*clusterSums
	alone []oneValue // values without a cluster
	items int        // if a value stands for several items, their number
}

// oneValue is a cluster of one value: its weight, and weight·x as its rounded value and the
// rounding error.
type oneValue struct{ w, hi, lo float64 }

// clusterSums are the exact sums of weight and of weight·x over one cluster.
type clusterSums struct{ w, wx []float64 }

// Add adds the value x, with its weight, to a cluster. A value whose cluster is "" is its
// own cluster. Values and weights that [Moments.Add] ignores are also ignored here.
func (c *Clustered) Add(cluster string, x, weight float64) {
	before := c.all.n
	c.all.Add(x, weight)
	if c.all.n == before {
		return
	}
	if cluster == "" {
		hi, lo := product(weight, x)
		c.alone = append(c.alone, oneValue{weight, hi, lo})
		return
	}
	c.cluster(cluster).add(x, weight)
}

// add adds a usable value.
func (s *clusterSums) add(x, weight float64) {
	hi, lo := product(weight, x)
	s.w = addPart(s.w, weight)
	s.wx = addPart(s.wx, hi)
	if lo != 0 {
		s.wx = addPart(s.wx, lo)
	}
}

// cluster returns the sums of a cluster, which it creates if needed.
func (c *Clustered) cluster(name string) *clusterSums {
	if c.named == nil {
		c.named = map[string]*clusterSums{}
	}
	sums, ok := c.named[name]
	if !ok {
		sums = &clusterSums{}
		c.named[name] = sums
	}
	return sums
}

// Merge adds all values of other.
func (c *Clustered) Merge(other *Clustered) {
	c.all.Merge(other.all)
	for name, sums := range other.named {
		to := c.cluster(name)
		for _, x := range sums.w {
			to.w = addPart(to.w, x)
		}
		for _, x := range sums.wx {
			to.wx = addPart(to.wx, x)
		}
	}
	c.alone = append(c.alone, other.alone...)
}

// Clusters returns the number of clusters.
func (c *Clustered) Clusters() int { return len(c.named) + len(c.alone) }

// Moments returns the moments of all values, ignoring clusters.
func (c *Clustered) Moments() Moments { return c.all }

// A Cluster is the sums over one cluster: the weight of its items, and the sum of weight
// times influence. The influence of an item is how much an estimate changes with it, for a
// mean the deviation of its value; influences have the weighted mean 0.
type Cluster struct{ Weight, Influence float64 }

// excesses returns the clusters, in an order that depends only on their sums.
func (c *Clustered) excesses() []Cluster {
	mean := c.all.Mean()
	list := make([]Cluster, 0, c.Clusters())
	for _, s := range c.named {
		w := roundParts(s.w)
		list = append(list, Cluster{Weight: w, Influence: math.FMA(-mean, w, roundParts(s.wx))})
	}
	for _, v := range c.alone {
		list = append(list, Cluster{Weight: v.w, Influence: math.FMA(-mean, v.w, v.hi) + v.lo})
	}
	slices.SortFunc(list, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(a.Influence, b.Influence), cmp.Compare(a.Weight, b.Weight))
	})
	return list
}

// StandardError returns the cluster-robust standard error of the mean and its degrees of
// freedom; see [RobustError].
func (c *Clustered) StandardError() (se, df float64) {
	se, df, _ = RobustError(c.excesses())
	return se, df
}

// RobustError returns the cluster-robust standard error of an estimate, its degrees of
// freedom, and whether a few clusters have most of the spread, which makes the standard
// error unreliable. The numbers are 0 if there are fewer than two clusters or one of them
// has all the weight.
//
// Source: R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear
// regression with multi-stage samples", Survey Methodology 28 (2002), 169-181, for a
// regression on a constant alone: the sandwich estimator in which the excess of a cluster
// with the share h of all weight is divided by sqrt(1-h), with Satterthwaite's degrees of
// freedom for equal weights within clusters. With clusters of equal size it is the usual
// estimator with n-1 degrees of freedom, and with unequal ones it has fewer. There are also
// fewer if some clusters differ much more from the mean than others; see [heavyTails].
func RobustError(list []Cluster) (se, df float64, few bool) {
	_, df = AsItems(list)
	if df == 0 {
		return 0, 0, false
	}
	total := 0.0
	for _, g := range list {
		total += g.Weight
	}
	var variance, squares, cubes, fourths float64
	for _, g := range list {
		u := g.Influence / total
		variance += u * u / (1 - g.Weight/total)
		square := float64(g.Influence * g.Influence)
		squares += square
		cubes += float64(square * g.Influence)
		fourths += float64(square * square)
	}
	if variance-variance != 0 {
		return 0, 0, false
	}
	if n := float64(len(list)); fourths > 0 {
		df = math.Min(df, heavyTails(n, n*fourths/squares/squares))
	}
	return math.Sqrt(variance), df, math.Abs(cubes) > tooSkewed*math.Pow(squares, 1.5)
}

// AsItems returns the number of items of equal weight that clusters would be worth if all
// items of a cluster were equal, which is the least they can be worth, and Satterthwaite's
// degrees of freedom. They are 0 if there are fewer than two clusters or one of them has all
// the weight.
func AsItems(list []Cluster) (n, df float64) {
	total := 0.0
	for _, g := range list {
		total += g.Weight
	}
	var squares, cross, fourths float64
	for _, g := range list {
		h := g.Weight / total
		if !(h < 1-1e-9) {
			return 0, 0
		}
		squares += float64(h * h)
		cross += h * h / (1 - h)
		fourths += h * h * h * h / (1 - h) / (1 - h)
	}
	if len(list) < 2 {
		return 0, 0
	}
	return 1 / squares, 1 / (squares + float64(cross*cross) - fourths)
}

// Mean returns the weighted mean of values within b, with an interval that is valid
// although values of one cluster depend on each other: [Clustered.StandardError] with
// Student's quantile. For bounded values the interval has Wilson's shape, with the number
// of independent values that would have that standard error; it then never exceeds the
// bounds and is shifted towards their middle.
//
// Source: N. Dean and M. Pagano, "Evaluating confidence interval methods for binomial
// proportions in clustered surveys", Journal of Survey Statistics and Methodology 3 (2015),
// 484-503, for the shape. With 30 and 100 clusters, equal or unequal, and correlations up to
// 0.3 within them, an interval at 0.95 contained shares from 0.5 to 0.99 in 0.92 to 0.99 of
// simulations (make coverage), and those outside 0.93 to 0.975 have the warning of [tooSkewed].
func (c *Clustered) Mean(level float64, b Bounds) Estimate {
	level, warning := checkLevel(level)
	return warnIf(c.all.warnSkipped(c.robust(c.excesses(), level, b.or())), warning)
}

// OneSided is like [Clustered.Mean], with ends that are corrected for the skewness of the
// clusters, so that each end is a bound by itself. Two ends balance skewness; one end does
// not: if a few clusters have most of a difference, a sample without them has both a better
// mean and a smaller standard error.
//
// Source: P. Hall, "On the removal of skewness by transformation", Journal of the Royal
// Statistical Society B 54 (1992), 221-228: its cubic transformation of Student's
// statistic.
func (c *Clustered) OneSided(level float64, b Bounds) Estimate {
	b = b.or()
	est, list := c.Mean(level, b), c.excesses()
	n := float64(len(list))
	var squares, cubes float64
	for _, g := range list {
		squares += float64(g.Influence * g.Influence)
		cubes += g.Influence * g.Influence * g.Influence
	}
	if _, df, _ := RobustError(list); est.SE > 0 {
		return est.skewed(cubes/n/math.Pow(squares/n, 1.5), n, df, b)
	}
	return est
}

// skewed returns the estimate with ends that are corrected for the skewness of the n values,
// or clusters, that it is the mean of.
func (e Estimate) skewed(skewness, n, df float64, b Bounds) Estimate {
	a := skewness * math.Sqrt(n*(n-1)) / (n - 2) / math.Sqrt(n)
	if n < 3 || !(math.Abs(a) > 1e-8) {
		return e
	}
	back := func(q float64) float64 { return 3 / a * (math.Cbrt(1+a*(q-a/6)) - 1) }
	q := StudentQuantile(e.Level, df)
	e.Lo, e.Hi = b.Clip(e.Value-float64(e.SE*back(q))), b.Clip(e.Value-float64(e.SE*back(-q)))
	return e
}

// robust returns the estimate without the warnings about the input.
func (c *Clustered) robust(list []Cluster, level float64, b Bounds) Estimate {
	if c.all.N() == 0 {
		return NoInterval(b.middle(), 0, level, b, WarnNoValues)
	}
	est := Estimate{Value: b.Clip(c.all.Mean()), Level: level, N: c.all.N(), Clusters: len(list), Method: methodClusterRobust}
	se, df, few := RobustError(list)
	if df == 0 {
		est.Lo, est.Hi, est.Method = b.Lo, b.Hi, MethodNone
		return est.Warn(warnOneCluster)
	}
	if se <= 1e-15*math.Abs(est.Value) {
		return warnIf(c.steady(est, list, b), ClusterWarning(est.Clusters, false))
	}
	est.SE = se
	est.EffectiveN = math.Min(c.all.Variance()/(se*se), math.MaxFloat64)
	return warnIf(est.Shaped(StudentQuantile(level, df), b).AtMostAsWide(list, b), ClusterWarning(len(list), few))
}

// AtMostAsWide returns the estimate with the interval that it would have if each cluster were
// one item, where that is narrower. Items of a cluster cannot be more alike than equal, and
// bounded values cannot vary more than zeros and ones with the same mean, so this interval
// needs no variance. It is narrower where a few clusters of a few items decide about the
// variance.
func (e Estimate) AtMostAsWide(list []Cluster, b Bounds) Estimate {
	p := (e.Value - b.Lo) / (b.Hi - b.Lo)
	if b == unlimited || !(p >= 0 && p <= 1) {
		return e
	}
	n, df := AsItems(list)
	lo, hi := Wilson(p, n, StudentQuantile(e.Level, df))
	if lo, hi = b.Lo+float64(lo*(b.Hi-b.Lo)), b.Lo+float64(hi*(b.Hi-b.Lo)); hi-lo < e.Hi-e.Lo {
		e.Lo, e.Hi = math.Min(lo, e.Value), math.Max(hi, e.Value)
	}
	return e
}

// steady returns the estimate for clusters with equal means, which do not show how far
// clusters differ, so that each counts as one item. If all have the value of a bound, the
// other end is also no farther away than if one item had the value of the other bound: a
// system that never failed is not worse than one that failed once.
func (c *Clustered) steady(est Estimate, list []Cluster, b Bounds) Estimate {
	if b == unlimited {
		est.Lo, est.Hi = est.Value, est.Value
		return est.Warn(warnNoSpreadUnbounded)
	}
	width, items := b.Hi-b.Lo, max(c.items, c.all.N())
	p := (est.Value - b.Lo) / width
	est.Lo, est.Hi = b.Lo, b.Hi
	if p == 0 || p == 1 {
		se, df, _ := RobustError(OneMiss(list, items))
		off := est
		off.Value, off.SE = b.Lo+float64(width*math.Abs(p-1/float64(items))), width*se
		off = off.Shaped(StudentQuantile(est.Level, df), b)
		if p == 0 {
			est.Hi = off.Hi
		} else {
			est.Lo = off.Lo
		}
	}
	return est.AtMostAsWide(list, b).Warn(warnSteady)
}

// OneMiss returns the clusters of n items as they would be if one item, in the heaviest of
// them, had the value 1 and the others 0. It stands for clusters without any influence.
func OneMiss(list []Cluster, n int) []Cluster {
	heaviest := 0
	one := slices.Clone(list)
	total := 0.0
	for i, g := range list {
		if total += g.Weight; g.Weight > list[heaviest].Weight {
			heaviest = i
		}
		one[i].Influence = -g.Weight / float64(n)
	}
	one[heaviest].Influence += total / float64(n)
	return one
}

// tooSkewed is the skewness of the influence of n clusters, over the square root of n, from
// which an interval has a warning. In simulations (make coverage) with 30 clusters, a share
// of 0.95 and a correlation of 0.3, an interval at 0.95 contains the truth in 0.92 of the
// draws, and nearly all of them have the warning.
//
// Source: W. G. Cochran, Sampling Techniques (1977), section 2.15, whose rule is that n
// exceeds 25 times the square of the skewness.
const tooSkewed = 0.2

// Shaped returns the estimate with an interval of z standard errors: on both sides if b is
// unbounded, and in Wilson's shape otherwise.
func (e Estimate) Shaped(z float64, b Bounds) Estimate {
	half := float64(z * e.SE)
	width := b.Hi - b.Lo
	p := (e.Value - b.Lo) / width
	if b == unlimited || !(p > 0 && p < 1) {
		e.Lo = math.Max(b.Clip(e.Value-half), -math.MaxFloat64)
		e.Hi = math.Min(b.Clip(e.Value+half), math.MaxFloat64)
		return e
	}
	n := p * (1 - p) / (e.SE / width) / (e.SE / width)
	lo, hi := Wilson(p, n, z)
	e.Lo = math.Min(e.Value, b.Clip(b.Lo+float64(lo*width)))
	e.Hi = math.Max(e.Value, b.Clip(b.Lo+float64(hi*width)))
	return e
}

// Score returns the mean of scores from 0 to 1 with the interval used in a report, so that
// a score has the same interval everywhere. It is that of independent items unless some
// cluster has two of them, or clustered says that clusters have more items elsewhere. One
// cluster allows no interval: the method is then [MethodNone].
func (c *Clustered) Score(level float64, clustered bool) Estimate {
	s := Score{Values: c.all}
	if clustered || c.all.N() > c.Clusters() {
		s.Clusters = c
	}
	return s.At(level)
}

// AtLeastAsWide returns an estimate from clusters whose interval, if clusters are few, is at
// least as wide as that of independent items. If items differ more within clusters than
// between them, the interval from clusters is narrower. With many clusters that is a
// finding; with few it is as likely chance, and dependence between items should not make an
// estimate look more precise.
func (e Estimate) AtLeastAsWide(independent Estimate) Estimate {
	if e.Clusters >= fewClusters || e.Method == MethodNone || e.Hi-e.Lo >= independent.Hi-independent.Lo {
		return e
	}
	e.Lo, e.Hi = math.Min(e.Lo, independent.Lo), math.Max(e.Hi, independent.Hi)
	return e.Warn(warnLucky)
}
