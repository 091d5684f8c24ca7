package compare

import (
	"math"
	"slices"

	"deem/internal/doc"
	"deem/stat"
)

// values collects numbers of items, each with a weight and an optional cluster. It stores
// the count of each number and sums per cluster, so memory grows with the distinct numbers
// and clusters, and not with items. The zero value is ready to use.
type values struct {
	moments stat.Moments
	alone   map[weighed]int        // values of items without a cluster
	named   map[string]*clusterSum // by cluster
	within  stat.Clustered         // values of items in clusters
	several bool                   // some cluster has two items
}

type weighed struct{ x, weight float64 }

// A clusterSum is the weighted sum of the values of one cluster, and that of their sizes.
type clusterSum struct {
	n         int
	sum, size float64
}

func (v *values) add(cluster string, x, weight float64) {
	v.moments.Add(x, weight)
	if cluster == "" {
		if v.alone == nil {
			v.alone = map[weighed]int{}
		}
		v.alone[weighed{x, weight}]++
		return
	}
	if v.named == nil {
		v.named = map[string]*clusterSum{}
	}
	s := doc.Entry(v.named, cluster)
	s.n++
	s.sum += x * weight
	s.size += math.Abs(x * weight)
	v.several = v.several || s.n > 1
	v.within.Add(cluster, x, weight)
}

func (v *values) n() int { return v.moments.N() }

// groups returns the values by cluster; an item without a cluster is its own cluster.
func (v *values) groups() *stat.Clustered {
	var all stat.Clustered
	all.Merge(&v.within)
	for w, n := range v.alone {
		for range n {
			all.Add("", w.x, w.weight)
		}
	}
	return &all
}

// share returns the estimate of the mean of scores, like a report.
func (v *values) share(level float64, binary bool) stat.Estimate {
	est := stat.Mean(v.moments, level, stat.Unit)
	if binary {
		est = stat.WeightedProportion(v.moments, level)
	}
	if v.several {
		est = v.groups().Mean(level, stat.Unit).AtLeastAsWide(est)
	}
	return est
}

// A contrast collects the paired scores of two runs.
type contrast struct {
	diffs         values // second - first
	first, second stat.Moments
	up, down      int // pairs in which the second is larger, and the first
}

// add adds the scores of one item.
func (c *contrast) add(cluster string, first, second, weight float64) {
	c.diffs.add(cluster, second-first, weight)
	c.first.Add(first, weight)
	c.second.Add(second, weight)
	switch {
	case second > first:
		c.up++
	case second < first:
		c.down++
	}
}

func (c *contrast) n() int { return c.diffs.n() }

// counted reports whether the difference is one of two counts: all items are 0 or 1, which
// means of trials need not be, and have the same weight.
func (c *contrast) counted(binary bool) bool {
	return binary && c.diffs.moments.EffectiveN() == float64(c.n()) && c.first.Binary() && c.second.Binary()
}

// wide are the bounds of a difference of two scores.
var wide = stat.Bounds{Lo: -1, Hi: 1}

// estimate returns the mean difference with its interval: cluster-robust if clusters have
// several items, and then no narrower than without them if clusters are few; Tango's for
// counts, and Student's otherwise.
func (c *contrast) estimate(level float64, binary bool) stat.Estimate {
	return c.by((*stat.Clustered).Mean, level, binary)
}

// by is like estimate, with the given cluster method.
func (c *contrast) by(method func(*stat.Clustered, float64, stat.Bounds) stat.Estimate, level float64, binary bool) stat.Estimate {
	est := stat.Mean(c.diffs.moments, level, wide)
	if c.counted(binary) || c.n() == 0 {
		est = stat.PairedProportions(c.up, c.down, c.n(), level)
	}
	if c.diffs.several {
		est = method(c.diffs.groups(), level, wide).AtLeastAsWide(est)
	}
	return est
}

// test tests whether there is a difference: McNemar's exact test for counts of items
// without clusters, and otherwise a permutation test, in which the items of a cluster are
// flipped together.
func (c *contrast) test(binary bool, seed uint64) stat.Test {
	if !c.diffs.several && c.counted(binary) {
		return stat.McNemar(c.up, c.down)
	}
	// A test by flipping signs takes one weighted difference for each item without a cluster,
	// and one for each cluster, whose items are flipped together. Differences of 0 have no
	// effect.
	var list []float64
	for w, n := range c.diffs.alone {
		if d := w.x * w.weight; d != 0 {
			list = append(list, slices.Repeat([]float64{d}, n)...)
		}
	}
	for _, s := range c.diffs.named {
		// 0.1 + 0.2 - 0.3 is 0; the sign of its rounding error is random.
		if math.Abs(s.sum) > 1e-12*s.size {
			list = append(list, s.sum)
		}
	}
	test := stat.PairedPermutation(list, 0, seed)
	test.Statistic = c.diffs.moments.Mean()
	if c.diffs.several {
		test.Method = "cluster-" + test.Method
	}
	return test
}

// detectable returns the smallest difference that this number of items would show with 80%
// power.
func (c *contrast) detectable(est stat.Estimate, binary bool) float64 {
	n := c.n()
	var least float64
	switch {
	case c.diffs.several:
		all := c.diffs.groups()
		se, df := all.StandardError()
		least = stat.MinDetectable(all.Clusters(), se, df, est.Level, stat.DefaultPower)
	case c.counted(binary):
		least = stat.MinDetectablePaired(n, float64(c.up+c.down)/float64(n), est.Level, stat.DefaultPower)
	default:
		m := c.diffs.moments
		least = stat.MinDetectable(n, math.Sqrt(m.Variance()/m.EffectiveN()), math.Inf(1), est.Level, stat.DefaultPower)
	}
	if !(least > 0) {
		return 1 // no spread was observed, so the spread is unknown
	}
	return math.Min(least, 1)
}
