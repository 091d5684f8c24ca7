package agreement

import (
	"math"

	"deem/stat"
)

// An OnBoth is one item with the responses of two systems: the judge's score of each, and
// people's score of those that they labelled.
type OnBoth struct {
	Cluster string
	Weight  float64 // of the item
	Judge   [2]float64

	// People are the labels, NaN for a response without one. Chance is the probability
	// with which a response was drawn to be labelled, 0 where all were equally likely.
	People [2]float64
	Chance [2]float64
}

// A PPIPaired is the difference of two systems as people would see it, from some labels
// of each and from the judge's scores of both.
type PPIPaired struct {
	First, Second float64 // people's mean of either system
	Labels        [2]int
	Lambda        [2]float64 // how much the judge is trusted with either system

	n        int // items
	clusters int
	se, df   float64
	shift    float64 // of the middle of the interval
}

// NewPPIPaired returns prediction-powered inference of the difference of two systems, the
// second minus the first. Each system has its own labels, so that a judge that favours
// one of them is corrected for that. The labels may be of the same items or of others. Each
// system's labels must be drawn at random, or with the probabilities that are given.
//
// The value is the judge's mean over all items plus the mean of its error over the
// labels, for each system. The judge's weights in it are the two that make the variance of
// the difference least. The variance is that of the influence of items, summed over
// clusters, so that it allows for what the two systems have in common on an item and in a
// cluster. For scores of 0 and 1 one label is spread over the four cells of each system's
// confusion, as in [PPIOf], so that a judge without errors in a few labels does not claim
// to make none.
//
// Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++", arXiv 2311.01453 (2023),
// for the weights; J. Hájek (1971) for labels with unequal probabilities; R. M. Bell and
// D. F. McCaffrey (2002), as at [Clustered.StandardError], for clusters.
func NewPPIPaired(items []OnBoth) PPIPaired {
	p := PPIPaired{n: len(items)}
	var sides [2]ppiSide
	for s := range sides {
		sides[s] = newPPISide(items, s)
		p.Labels[s] = sides[s].labels
	}
	if min(p.Labels[0], p.Labels[1]) == 0 {
		return p
	}
	p.Lambda = leastVariance(sides)
	p.First, p.Second = sides[0].mean(p.Lambda[0]), sides[1].mean(p.Lambda[1])
	influence, weights := make([]float64, len(items)), make([]float64, len(items))
	for i, it := range items {
		weights[i] = it.Weight
		influence[i] = sides[1].base[i] + float64(p.Lambda[1]*sides[1].slope[i]) - sides[0].base[i] - float64(p.Lambda[0]*sides[0].slope[i])
	}
	whole := sumByCluster(items, weights, influence)
	if len(whole) < len(items) {
		p.clusters = len(whole)
	}
	p.se, p.df, _ = stat.RobustError(whole)
	variance := p.se * p.se
	for s, side := range sides {
		// The error is known from the labels, which may be in fewer clusters than the items.
		_, ofLabels, _ := stat.RobustError(side.places)
		spent := max(side.effective-2, 0)
		p.df = min(p.df, ofLabels, spent)
		if !side.binary || spent == 0 {
			continue
		}
		seen, plus := newCells(side.counts, 0), newCells(side.counts, 0.25)
		variance += max(plus.rectifierVariance(p.Lambda[s])/spent-seen.rectifierVariance(p.Lambda[s])/side.effective, 0)
		moved := plus.truth - seen.truth - float64(p.Lambda[s]*(plus.judge-seen.judge))
		p.shift += float64(2*s-1) * moved
	}
	p.se = math.Sqrt(variance)
	return p
}

// A ppiSide is what one system brings: base + lambda·slope is the influence of each item
// on the corrected mean, times the weight of all items.
type ppiSide struct {
	labels      int
	all         float64 // the judge's mean over all items
	people      float64 // people's mean over the labels
	judge       float64 // the judge's mean over the labels
	base, slope []float64
	places      []stat.Cluster // the weight of the labels in each cluster
	counts      Confusion      // of labels, for scores of 0 and 1
	binary      bool
	effective   float64 // how many labels of equal weight the labels are worth
}

func newPPISide(items []OnBoth, s int) ppiSide {
	side := ppiSide{binary: true, base: make([]float64, len(items)), slope: make([]float64, len(items))}
	total, labelled, squares := 0.0, 0.0, 0.0
	weights := make([]float64, len(items)) // of labels
	for i, it := range items {
		total += it.Weight
		side.all += it.Weight * it.Judge[s]
		y := it.People[s]
		if math.IsNaN(y) {
			continue
		}
		weights[i] = it.Weight
		if it.Chance[s] > 0 {
			weights[i] /= it.Chance[s]
		}
		side.labels++
		labelled += weights[i]
		squares += weights[i] * weights[i]
		side.people += weights[i] * y
		side.judge += weights[i] * it.Judge[s]
		side.binary = side.binary && (y == 0 || y == 1) && (it.Judge[s] == 0 || it.Judge[s] == 1)
		side.counts.Add(y >= 0.5, it.Judge[s] >= 0.5)
	}
	if side.labels == 0 {
		return side
	}
	side.all /= total
	side.people /= labelled
	side.judge /= labelled
	side.effective = labelled * labelled / squares
	for i, it := range items {
		side.slope[i] = it.Weight * (it.Judge[s] - side.all)
		if w := weights[i] * total / labelled; w > 0 {
			side.base[i] = w * (it.People[s] - side.people)
			side.slope[i] -= w * (it.Judge[s] - side.judge)
		}
	}
	side.places = sumByCluster(items, weights, nil)
	return side
}

func (s ppiSide) mean(lambda float64) float64 { return s.people + float64(lambda*(s.all-s.judge)) }

// leastVariance returns the weights of the judge, from 0 to 1 each, that make the sum of
// squared influences least. The sum is convex, so that going to the lowest point along
// one weight and then along the other ends at the lowest of all.
func leastVariance(sides [2]ppiSide) (lambda [2]float64) {
	var square, base [2]float64 // products of slopes with themselves, and with the bases
	cross := 0.0
	for i := range sides[0].base {
		u, a, b := sides[1].base[i]-sides[0].base[i], -sides[0].slope[i], sides[1].slope[i]
		square[0] += a * a
		square[1] += b * b
		base[0] += u * a
		base[1] += u * b
		cross += a * b
	}
	for range 200 {
		for s := range lambda {
			if square[s] > 1e-12 {
				lambda[s] = stat.Unit.Clip(-(base[s] + float64(cross*lambda[1-s])) / square[s])
			}
		}
	}
	return lambda
}

// sumByCluster returns the weight of the items of each cluster, and the sum of their
// influence. Items of no weight are left out.
func sumByCluster(items []OnBoth, weights, influence []float64) []stat.Cluster {
	places := map[string]int{}
	var list []stat.Cluster
	for i, it := range items {
		if weights[i] == 0 {
			continue
		}
		at, known := places[it.Cluster]
		if !known || it.Cluster == "" {
			at = len(list)
			places[it.Cluster] = at
			list = append(list, stat.Cluster{})
		}
		list[at].Weight += weights[i]
		if influence != nil {
			list[at].Influence += influence[i]
		}
	}
	return list
}

// At returns the difference with an interval at the level. Its method is [MethodNone]
// where the labels allow no interval.
func (p PPIPaired) At(level float64) stat.Estimate {
	value := p.Second - p.First
	both := plusMinusOne
	if !(p.df > 0) {
		why := warnNoLabels
		if p.clusters > 0 && p.Labels[0] > 0 && p.Labels[1] > 0 {
			why = stat.ClusterWarning(1, false)
		}
		return stat.NoInterval(value, p.n, level, both, why)
	}
	half := float64(fastQuantile(level, p.df) * p.se)
	est := stat.Estimate{
		Value: both.Clip(value), Level: level, N: p.n, Clusters: p.clusters, SE: p.se, Method: "ppi++-paired",
		Lo: min(both.Clip(value+p.shift-half), value), Hi: max(both.Clip(value+p.shift+half), value),
	}
	if min(p.Labels[0], p.Labels[1]) < 50 {
		est = est.Warn(WarnFewLabels)
	}
	// Few clusters make this interval too narrow, even if they are very few.
	if few := stat.ClusterWarning(max(int(p.df)+1, 8), false); p.clusters > 0 && few != "" {
		est = est.Warn(few)
	}
	return est
}

// Test returns the two-sided test of whether there is a difference. Its p-value is below
// 1 minus a level exactly where the interval at that level leaves out 0.
func (p PPIPaired) Test() stat.Test {
	test := stat.Test{Statistic: p.Second - p.First, P: 1, Method: "ppi++-t", N: p.n}
	if !(p.df > 0 && p.se > 0) {
		test.Warnings = []string{warnNoLabels}
		return test
	}
	middle := test.Statistic + p.shift
	if middle*test.Statistic > 0 {
		test.P = stat.StudentTail(middle/p.se, p.df)
	}
	return test
}
