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

// score returns the mean of the values, like a report. Values are shares of yes if binary.
func (v *values) score(binary bool) stat.Score {
	s := stat.Score{Values: v.moments, Share: binary || v.moments.Binary()}
	if v.several {
		s.Clusters = v.groups()
	}
	return s
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

// score returns the mean difference.
func (c *contrast) score(binary bool) stat.Score {
	s := c.diffs.score(binary)
	// Means of trials need not be 0 or 1.
	counts := binary && c.diffs.moments.EffectiveN() == float64(c.n()) && c.first.Binary() && c.second.Binary()
	s.Pairs = &stat.Pairs{Up: c.up, Down: c.down, Counts: counts}
	for w, n := range c.diffs.alone {
		if d := w.x * w.weight; d != 0 {
			s.Pairs.Sums = append(s.Pairs.Sums, slices.Repeat([]float64{d}, n)...)
		}
	}
	for _, sum := range c.diffs.named {
		// 0.1 + 0.2 - 0.3 is 0; the sign of its rounding error is random.
		if math.Abs(sum.sum) > 1e-12*sum.size {
			s.Pairs.Sums = append(s.Pairs.Sums, sum.sum)
		}
	}
	return s
}
