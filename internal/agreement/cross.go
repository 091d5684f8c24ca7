package agreement

import (
	"maps"
	"slices"

	"deem/stat"
)

// A Cross compares the yes/no decisions of two judges on the same items, which may have
// weights and come in clusters. It keeps one table per cluster, and counts items without a
// cluster by their weight. The zero value is ready to use.
type Cross struct {
	counts   Confusion
	all      YesNo
	clusters map[string]*YesNo
	alone    map[crossed]int // items without a cluster
	apart    map[crossed]int // all items
}

// A crossed is the decisions on an item, and its weight.
type crossed struct {
	truth, given bool
	weight       float64
}

// Add adds an item: the decisions of the first judge, as the truth, and of the second.
func (c *Cross) Add(cluster string, weight float64, truth, given bool) {
	if c.apart == nil {
		c.clusters, c.alone, c.apart = map[string]*YesNo{}, map[crossed]int{}, map[crossed]int{}
	}
	c.counts.Add(truth, given)
	c.all.Add(truth, given, weight)
	one := crossed{truth, given, weight}
	c.apart[one]++
	if cluster == "" {
		c.alone[one]++
		return
	}
	if c.clusters[cluster] == nil {
		c.clusters[cluster] = &YesNo{}
	}
	c.clusters[cluster].Add(truth, given, weight)
}

// Merge adds the items of other. Clusters with the same name are the same cluster.
func (c *Cross) Merge(other *Cross) {
	for one, n := range other.alone {
		for range n {
			c.Add("", one.weight, one.truth, one.given)
		}
	}
	inClusters := maps.Clone(other.apart)
	for one, n := range other.alone {
		inClusters[one] -= n
	}
	for one, n := range inClusters {
		if c.apart == nil {
			c.clusters, c.alone, c.apart = map[string]*YesNo{}, map[crossed]int{}, map[crossed]int{}
		}
		c.apart[one] += n
		for range n {
			c.counts.Add(one.truth, one.given)
			c.all.Add(one.truth, one.given, one.weight)
		}
	}
	for name, t := range other.clusters {
		if c.clusters[name] == nil {
			c.clusters[name] = &YesNo{}
		}
		to := c.clusters[name]
		to.TP, to.FP, to.FN, to.TN = to.TP+t.TP, to.FP+t.FP, to.FN+t.FN, to.TN+t.TN
	}
}

// Counts returns the numbers of items.
func (c *Cross) Counts() Confusion { return c.counts }

// Agreement returns the share of items on which the judges agree, by weight.
func (c *Cross) Agreement(level float64) stat.Estimate {
	n := c.counts.N()
	if n == 0 {
		return stat.Proportion(0, 0, level)
	}
	agreed, _, _ := c.all.rates()
	d := c.design(func(truth, given bool) float64 { return Number(truth == given) - agreed })
	return d.Share(agreed, n, level)
}

// Kappa returns Cohen's kappa; see [YesNo.Beyond].
func (c *Cross) Kappa(level float64) stat.Estimate {
	d := c.design(func(truth, given bool) float64 { return c.all.Influence(CohenKappa, truth, given) })
	return c.all.Beyond(CohenKappa, c.counts.N(), d, level)
}

// design returns how much less information the items have about an estimate than the same
// number of independent items, from the influence of the decisions on an item.
func (c *Cross) design(z func(truth, given bool) float64) Design {
	n := c.counts.N()
	clustered := len(c.clusters)+sum(c.alone) < n
	var apart []stat.Cluster
	weighted, first := false, 0.0
	total, squares, both := 0.0, 0.0, 0.0
	for one, k := range c.apart {
		if k == 0 {
			continue
		}
		if first == 0 {
			first = one.weight
		}
		weighted = weighted || one.weight != first
		x, w := z(one.truth, one.given), one.weight
		total += float64(k) * w
		squares += float64(k) * w * x * x
		both += float64(k) * w * w * x * x
		if clustered {
			apart = append(apart, slices.Repeat([]stat.Cluster{{Weight: w, Influence: w * x}}, k)...)
		}
	}
	if n < 2 || !clustered && !weighted {
		return Design{}
	}
	d := Design{Effect: 1, DF: float64(n - 1)}
	if clustered {
		var whole []stat.Cluster
		for one, k := range c.alone {
			whole = append(whole, slices.Repeat([]stat.Cluster{{Weight: one.weight, Influence: one.weight * z(one.truth, one.given)}}, k)...)
		}
		for _, name := range slices.Sorted(maps.Keys(c.clusters)) {
			t := c.clusters[name]
			whole = append(whole, stat.Cluster{
				Weight:    t.Sum(),
				Influence: t.TP*z(true, true) + t.FP*z(false, true) + t.FN*z(true, false) + t.TN*z(false, false),
			})
		}
		d = InClusters(whole, apart)
	}
	if squares > 0 {
		d.Effect *= both / (total * squares) * float64(n)
	}
	return d
}

// sum returns the number of items.
func sum(m map[crossed]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}
