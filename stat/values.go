package stat

import (
	"math"
	"slices"
)

// Values collects values of items, each with a weight and an optional cluster, for a
// [Score]. It stores the count of each value and sums per cluster, so memory grows with the
// distinct values and clusters, and not with items. The zero value is ready to use.
type Values struct {
	moments Moments
	alone   map[weighed]int        // values of items without a cluster
	named   map[string]*clusterSum // by cluster
	several bool                   // some cluster has two items
}

type weighed struct{ x, weight float64 }

// A clusterSum is the sums over one cluster, and the weighted sum of its values and that of
// their sizes as rounded numbers.
type clusterSum struct {
	clusterSums
	n         int
	sum, size float64
}

// Add adds the value of an item. An item whose cluster is "" is its own cluster.
func (v *Values) Add(cluster string, x, weight float64) {
	before := v.moments.n
	v.moments.Add(x, weight)
	usable := v.moments.n > before
	if cluster == "" {
		if v.alone == nil {
			v.alone = map[weighed]int{}
		}
		if usable {
			v.alone[weighed{x, weight}]++
		}
		return
	}
	if v.named == nil {
		v.named = map[string]*clusterSum{}
	}
	s, ok := v.named[cluster]
	if !ok {
		s = &clusterSum{}
		v.named[cluster] = s
	}
	s.n++
	s.sum += x * weight
	s.size += math.Abs(x * weight)
	v.several = v.several || s.n > 1
	if usable {
		s.add(x, weight)
	}
}

// N returns the number of items.
func (v *Values) N() int { return v.moments.n }

// Named returns the number of clusters that have a name.
func (v *Values) Named() int { return len(v.named) }

// Clustered reports whether a cluster has at least two items, so that intervals must allow
// for clusters.
func (v *Values) Clustered() bool { return v.several }

// Score returns the mean of the values. They are shares of yes if share is set.
func (v *Values) Score(share bool) Score {
	s := Score{Values: v.moments, Share: share || v.moments.Binary()}
	if !v.several {
		return s
	}
	s.Clusters = &Clustered{all: v.moments, named: make(map[string]*clusterSums, len(v.named))}
	for name, sums := range v.named {
		if len(sums.w) == 0 {
			continue // none of its values is usable
		}
		s.Clusters.named[name] = &clusterSums{w: slices.Clone(sums.w), wx: slices.Clone(sums.wx)}
	}
	for one, n := range v.alone {
		hi, lo := product(one.weight, one.x)
		s.Clusters.alone = append(s.Clusters.alone, slices.Repeat([]oneValue{{one.weight, hi, lo}}, n)...)
	}
	return s
}

// Differences collects two values of each item, for the [Score] of their difference.
type Differences struct {
	Values        // second - first
	First, Second Moments
	Up, Down      int // items with a larger second, and a larger first value
}

// Add adds the two values of an item.
func (d *Differences) Add(cluster string, first, second, weight float64) {
	d.Values.Add(cluster, second-first, weight)
	d.First.Add(first, weight)
	d.Second.Add(second, weight)
	switch {
	case second > first:
		d.Up++
	case second < first:
		d.Down++
	}
}

// Score returns the mean difference, second minus first. The values are shares of yes if
// share is set.
func (d *Differences) Score(share bool) Score {
	s := d.Values.Score(share)
	// Means of trials need not be 0 or 1.
	counts := share && d.moments.EffectiveN() == float64(d.N()) && d.First.Binary() && d.Second.Binary()
	s.Pairs = &Pairs{Up: d.Up, Down: d.Down, Counts: counts}
	for w, n := range d.alone {
		if x := w.x * w.weight; x != 0 {
			s.Pairs.Sums = append(s.Pairs.Sums, slices.Repeat([]float64{x}, n)...)
		}
	}
	for _, c := range d.named {
		// 0.1 + 0.2 - 0.3 is 0; the sign of its rounding error is random.
		if math.Abs(c.sum) > 1e-12*c.size {
			s.Pairs.Sums = append(s.Pairs.Sums, c.sum)
		}
	}
	return s
}
