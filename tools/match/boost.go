package main

import (
	"math"
	"slices"

	"deem/internal/evidence"
)

// Settings say how a model is fitted. The zero value means the defaults.
type Settings struct {
	Trees  int     // 0 means 160
	Shrink float64 // how much of each tree is taken; 0 means 0.075
	Leaf   float64 // least curvature in a leaf, about a quarter of its least items; 0 means 12
	Misses float64 // weight of a near miss beside a labelled item; 0 means 0.05
	Ridge  float64 // pull of each leaf towards nothing; 0 means 4
}

func (s Settings) withDefaults() Settings {
	if s.Trees == 0 {
		s.Trees = 320
	}
	if s.Shrink == 0 {
		s.Shrink = .0375
	}
	if s.Leaf == 0 {
		s.Leaf = 12
	}
	if s.Misses == 0 {
		s.Misses = .035
	}
	if s.Ridge == 0 {
		s.Ridge = 4
	}
	return s
}

// maxBins is how many values of one feature are told apart.
const maxBins = 64

// A table is evidence cut into bins, one column per feature.
type table struct {
	marks  [][]float64 // per feature, the upper ends of all bins but the last
	column [][]uint8
	n      int
}

func newTable(x [][]float64) *table {
	t := &table{n: len(x)}
	if len(x) == 0 {
		return t
	}
	for f := range x[0] {
		values := make([]float64, len(x))
		for i := range x {
			values[i] = x[i][f]
		}
		marks := cuts(values)
		column := make([]uint8, len(x))
		for i, v := range values {
			k, _ := slices.BinarySearch(marks, v)
			column[i] = uint8(k)
		}
		t.marks = append(t.marks, marks)
		t.column = append(t.column, column)
	}
	return t
}

// cuts returns marks between values, midway between two neighbours, such that the
// bins hold about as many values each.
func cuts(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	var marks []float64
	step := max(1, len(sorted)/maxBins)
	last := 0
	for i := 1; i < len(sorted); i++ {
		if sorted[i] != sorted[i-1] && i-last >= step && len(marks) < maxBins-1 {
			// Rounded here, so that the file holds what was fitted.
			marks = append(marks, round(sorted[i-1]+(sorted[i]-sorted[i-1])/2))
			last = i
		}
	}
	return slices.Compact(marks)
}

// round keeps five digits, which is what the file holds.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// A fitting is the state of one boosting: gradient descent on the logistic loss in
// the space of sums of trees.
type fitting struct {
	Settings
	t     *table
	y     []float64
	w     []float64
	rises []int // per feature +1 if more can only speak for right, -1 against, 0 either
	odds  []float64
	grad  []float64
	curve []float64
	node  []uint8 // where each item is in the tree that grows
	hist  []bin   // of one node at a time
}

// A bin sums the gradient and the curvature of the items in it.
type bin struct{ grad, curve float64 }

// boost returns the log-odds before any tree, and the trees. It draws no random
// numbers, so the same items in the same order give the same trees.
func boost(t *table, y, w []float64, rises []int, s Settings) (base float64, trees []evidence.Tree) {
	s = s.withDefaults()
	f := &fitting{
		Settings: s, t: t, y: y, w: w, rises: rises,
		odds: make([]float64, t.n), grad: make([]float64, t.n), curve: make([]float64, t.n), node: make([]uint8, t.n),
		hist: make([]bin, len(t.column)*maxBins),
	}
	base = round(startOdds(y, w))
	for i := range f.odds {
		f.odds[i] = base
	}
	for range s.Trees {
		trees = append(trees, f.grow())
	}
	return base, trees
}

func startOdds(y, w []float64) float64 {
	yes, all := 1.0, 2.0
	for i := range y {
		yes += w[i] * y[i]
		all += w[i]
	}
	return math.Log(yes / (all - yes))
}

const (
	inner  = 1<<evidence.Depth - 1
	leaves = 1 << evidence.Depth
)

// grow adds one tree.
func (f *fitting) grow() evidence.Tree {
	for i := range f.odds {
		p := 1 / (1 + math.Exp(-f.odds[i]))
		f.grad[i] = f.w[i] * (f.y[i] - p)
		f.curve[i] = f.w[i] * p * (1 - p)
		f.node[i] = 0
	}
	var tree evidence.Tree
	// bounds keep the leaves on either side of a split in the order that its
	// feature asks for.
	var bounds [inner + leaves][2]float64
	bounds[0] = [2]float64{math.Inf(-1), math.Inf(1)}
	for n := range inner {
		s := f.bestSplit(uint8(n), bounds[n])
		tree.Feature[n], tree.Mark[n] = s.feature, 0
		bounds[2*n+1], bounds[2*n+2] = s.bounds(bounds[n])
		if s.feature >= 0 {
			tree.Mark[n] = f.t.marks[s.feature][s.bin]
		}
		f.divide(uint8(n), s)
	}
	f.settle(&tree, bounds[inner:])
	return tree
}

// A split is one question of a tree.
type split struct {
	feature     int // -1 for none
	bin         int // the last on the left
	gain        float64
	left, right float64 // the values of both sides
	rises       int
}

// bounds returns the bounds of both sides.
func (s split) bounds(b [2]float64) (left, right [2]float64) {
	if s.feature < 0 || s.rises == 0 {
		return b, b
	}
	mid := (s.left + s.right) / 2
	low, high := [2]float64{b[0], mid}, [2]float64{mid, b[1]}
	if s.rises > 0 {
		return low, high
	}
	return high, low
}

// bestSplit looks at every mark of every feature.
func (f *fitting) bestSplit(node uint8, b [2]float64) split {
	total := f.sum(node)
	best := split{feature: -1, gain: 1e-3}
	for feature := range f.t.column {
		hist := f.hist[feature*maxBins : (feature+1)*maxBins]
		var left bin
		for k := range f.t.marks[feature] {
			left.grad += hist[k].grad
			left.curve += hist[k].curve
			right := bin{total.grad - left.grad, total.curve - left.curve}
			if left.curve < f.Leaf {
				continue
			}
			if right.curve < f.Leaf {
				break
			}
			if s := f.try(left, right, total, b, f.rises[feature]); s.gain > best.gain {
				s.feature, s.bin = feature, k
				best = s
			}
		}
	}
	return best
}

// sum fills the histogram of a node and returns its total.
func (f *fitting) sum(node uint8) bin {
	clear(f.hist)
	var total bin
	var items []int32
	for i, n := range f.node {
		if n == node {
			items = append(items, int32(i))
			total.grad += f.grad[i]
			total.curve += f.curve[i]
		}
	}
	for feature, column := range f.t.column {
		hist := f.hist[feature*maxBins : (feature+1)*maxBins]
		for _, i := range items {
			h := &hist[column[i]]
			h.grad += f.grad[i]
			h.curve += f.curve[i]
		}
	}
	return total
}

// try returns what a split gains, nothing if it would go against the order that
// its feature asks for.
func (f *fitting) try(left, right, total bin, b [2]float64, rises int) split {
	s := split{left: f.value(left, b), right: f.value(right, b), rises: rises}
	if float64(rises)*(s.right-s.left) < 0 {
		return s
	}
	s.gain = f.gain(left, s.left) + f.gain(right, s.right) - f.gain(total, f.value(total, b))
	return s
}

// value is the Newton step of a node, kept within bounds.
func (f *fitting) value(n bin, b [2]float64) float64 {
	return min(max(n.grad/(n.curve+f.Ridge), b[0]), b[1])
}

// gain is by how much a node at value v lowers the loss, to second order.
func (f *fitting) gain(n bin, v float64) float64 {
	return 2*n.grad*v - (n.curve+f.Ridge)*v*v
}

// divide sends the items of a node to its sides.
func (f *fitting) divide(node uint8, s split) {
	for i, n := range f.node {
		if n != node {
			continue
		}
		f.node[i] = 2*node + 1
		if s.feature >= 0 && int(f.t.column[s.feature][i]) > s.bin {
			f.node[i]++
		}
	}
}

// settle gives the leaves their values and takes the step.
func (f *fitting) settle(tree *evidence.Tree, bounds [][2]float64) {
	var sums [leaves]bin
	for i, n := range f.node {
		sums[n-inner].grad += f.grad[i]
		sums[n-inner].curve += f.curve[i]
	}
	for k := range sums {
		tree.Leaf[k] = round(f.Shrink * f.value(sums[k], bounds[k]))
	}
	for i, n := range f.node {
		f.odds[i] += tree.Leaf[n-inner]
	}
}
