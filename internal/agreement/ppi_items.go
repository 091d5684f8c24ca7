package agreement

import (
	"math"

	"deem/stat"
)

// A Rated is an item of a run: the judge's score of its response, and people's if they
// labelled it.
type Rated struct {
	Cluster string
	Weight  float64
	Judge   float64 // a decision, a grade, the mean of several, or a probability

	// People is the label, NaN without one. Chance is the probability with which the item
	// was drawn to be labelled, 0 if all were equally likely.
	People float64
	Chance float64
}

// PPIOn is like [PPIOf], for scores from 0 to 1 of items with weights, in clusters, of which
// some may have been more likely to be labelled than others. It also returns the influence
// of each item on the value, times the weight of all items.
//
// The value is the judge's mean over all items plus the mean of its error over the labels,
// and the weight of the judge is the one that makes the variance least. The variance is that
// of the influence of items, summed over clusters. For scores of 0 and 1 one label is spread
// over the four cells of the confusion, as in [PPIOf], so that a judge without errors in a
// few labels does not claim to make none.
//
// Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++", arXiv 2311.01453 (2023),
// for the weight; J. Hájek (1971) for labels with unequal probabilities; R. M. Bell and
// D. F. McCaffrey (2002), as at [stat.RobustError], for clusters.
func PPIOn(items []Rated, level float64) (PPI, []float64) {
	s := newRatedSums(items)
	p := PPI{Labels: s.labels, Unlabelled: len(items) - s.labels}
	if s.labels == 0 {
		p.Estimate = stat.NoInterval(0.5, 0, level, stat.Unit, warnNoLabels)
		return p, make([]float64, len(items))
	}
	p.Variance, p.Correlation = s.variance, s.correlation
	p.Lambda = s.leastVariance(items)
	influence := make([]float64, len(items))
	weights := make([]float64, len(items))
	for i, it := range items {
		weights[i] = it.Weight
		influence[i] = s.base[i] + float64(p.Lambda*s.slope[i])
	}
	whole := sumByCluster(items, weights, influence)
	se, df, few := stat.RobustError(whole)
	if stat.ClusterWarning(len(whole), false) != "" {
		// A few clusters may by chance vary less than their items; see [InClusters].
		apart := make([]stat.Cluster, len(items))
		for i, it := range items {
			apart[i] = stat.Cluster{Weight: it.Weight, Influence: influence[i]}
		}
		alone, _, _ := stat.RobustError(apart)
		se = max(se, alone)
	}
	// The error is known from the labels, which may be in fewer clusters than the items.
	_, ofLabels, _ := stat.RobustError(sumByCluster(items, s.weights, nil))
	spent := max(s.effective-2, 0)
	df = min(df, ofLabels, spent)
	value, shift := stat.Unit.Clip(s.people+float64(p.Lambda*(s.all-s.judge))), 0.0
	if !(df > 0) {
		why := warnNoLabels
		if len(whole) < len(items) {
			why = stat.ClusterWarning(1, false)
		}
		p.Estimate = stat.NoInterval(value, s.labels, level, stat.Unit, why)
		return p, influence
	}
	if s.binary {
		seen, plus := newCells(s.counts, 0), newCells(s.counts, 0.25)
		se = math.Sqrt(se*se + max(plus.rectifierVariance(p.Lambda)/spent-seen.rectifierVariance(p.Lambda)/s.effective, 0))
		shift = plus.truth - seen.truth - float64(p.Lambda*(plus.judge-seen.judge))
	}
	half := float64(fastQuantile(level, df) * se)
	p.Estimate = stat.Estimate{
		Value: value, Level: level, N: s.labels, SE: se, Method: "ppi++-weighted",
		Lo: min(stat.Unit.Clip(value+shift-half), value), Hi: max(stat.Unit.Clip(value+shift+half), value),
	}
	if s.labels < 50 {
		p.Estimate = p.Warn(WarnFewLabels)
	}
	if len(whole) < len(items) {
		p.Estimate = Design{Clusters: len(whole), Few: few}.mark(p.Estimate, stat.Unit)
	}
	return p, influence
}

// ratedSums are the sums over items: base + lambda·slope is the influence of each item on
// the corrected mean, times the weight of all items.
type ratedSums struct {
	labels                int
	all                   float64 // the judge's mean over all items
	people, judge         float64 // the means of people and judge over the labels
	base, slope           []float64
	weights               []float64 // of labels, 0 for items without one
	counts                Confusion // of labels, for scores of 0 and 1
	binary                bool
	effective             float64 // how many labels of equal weight the labels are worth
	variance, correlation float64 // of people's scores, and theirs with the judge's
}

func newRatedSums(items []Rated) ratedSums {
	n := len(items)
	s := ratedSums{binary: true, base: make([]float64, n), slope: make([]float64, n), weights: make([]float64, n)}
	total, labelled, squares := 0.0, 0.0, 0.0
	for i, it := range items {
		total += it.Weight
		s.all += it.Weight * it.Judge
		if math.IsNaN(it.People) {
			continue
		}
		w := it.Weight
		if it.Chance > 0 {
			w /= it.Chance
		}
		s.weights[i] = w
		s.labels++
		labelled += w
		squares += w * w
		s.people += w * it.People
		s.judge += w * it.Judge
		s.binary = s.binary && (it.People == 0 || it.People == 1) && (it.Judge == 0 || it.Judge == 1)
		s.counts.Add(it.People >= 0.5, it.Judge >= 0.5)
	}
	if s.labels == 0 {
		return s
	}
	s.all /= total
	s.people /= labelled
	s.judge /= labelled
	s.effective = labelled * labelled / squares
	ofJudge, both := 0.0, 0.0
	for i, it := range items {
		s.slope[i] = it.Weight * (it.Judge - s.all)
		if s.weights[i] == 0 {
			continue
		}
		share, y, x := s.weights[i]/labelled, it.People-s.people, it.Judge-s.judge
		s.variance += share * y * y
		ofJudge += share * x * x
		both += share * x * y
		s.base[i] = share * total * y
		s.slope[i] -= share * total * x
	}
	if spread := math.Sqrt(s.variance * ofJudge); spread > 0 {
		s.correlation = max(-1, min(both/spread, 1))
	}
	return s
}

// leastVariance returns the weight of the judge, from 0 to 1, that makes the sum of squared
// influences of clusters least or, if clusters are few, that of items.
func (s ratedSums) leastVariance(items []Rated) float64 {
	ones := make([]float64, len(items))
	for i := range ones {
		ones[i] = 1
	}
	square, cross := 0.0, 0.0
	base, slope := sumByCluster(items, ones, s.base), sumByCluster(items, ones, s.slope)
	if stat.ClusterWarning(len(base), false) == "" {
		for i := range slope {
			square += slope[i].Influence * slope[i].Influence
			cross += base[i].Influence * slope[i].Influence
		}
	} else {
		for i := range s.slope {
			square += s.slope[i] * s.slope[i]
			cross += s.base[i] * s.slope[i]
		}
	}
	if square <= 1e-12 {
		return 0
	}
	return stat.Unit.Clip(-cross / square)
}

// sumByCluster returns the weight of the items of each cluster, and the sum of their
// influence. Items of no weight are left out.
func sumByCluster(items []Rated, weights, influence []float64) []stat.Cluster {
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
