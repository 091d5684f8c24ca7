package agreement

import (
	"math"
	"sort"

	"deem/stat"
)

// A Predicted is one item that a cheap judge scored, and that a better one, such as people,
// may have scored, too.
type Predicted struct {
	Cluster string
	Weight  float64
	Judge   float64

	// Truth is the better score, NaN for an item without one. Chance is the probability with
	// which the item was drawn to have one, 0 if all were equally likely.
	Truth  float64
	Chance float64
}

// WarnFewLabels warns of a corrected score from few labels.
const WarnFewLabels = "fewer than 50 labels: the corrected interval may be too narrow"

// The reasons why a corrected score has no interval.
const (
	warnNoLabels = "there are no labels to correct with"
	warnFewKnown = "too few items have both scores: there is no interval"
)

// A Prediction is the mean of the better scores of all items, estimated from those that are
// known and from the cheap ones.
type Prediction struct {
	stat.Estimate

	Lambda float64 `json:"lambda"` // how much the cheap judge is trusted, from 0 to 1
	Known  int     `json:"known"`  // better scores
	Items  int     `json:"items"`

	// Alone is the estimate from the better scores alone.
	Alone stat.Estimate `json:"alone"`

	// Floor is the standard error that remains if every item has a better score, because the
	// items are a sample.
	Floor float64 `json:"floor"`

	// Influence is that of each item on the value, times the weight of all items.
	Influence []float64 `json:"-"`
}

// MarshalJSON writes the fields of the estimate and the others.
func (p Prediction) MarshalJSON() ([]byte, error) {
	return withEstimate(p.Estimate, struct {
		Lambda float64       `json:"lambda"`
		Known  int           `json:"known"`
		Items  int           `json:"items"`
		Alone  stat.Estimate `json:"alone"`
		Floor  float64       `json:"floor"`
	}{p.Lambda, p.Known, p.Items, p.Alone, p.Floor})
}

// Width returns how wide the interval would be, from its lower to its upper end, with this
// many better scores in place of those that there are. It assumes that the cheap judge goes
// on to be as good as it was.
func (p Prediction) Width(known int) float64 {
	if p.Method == stat.MethodNone || known < 1 || !(p.SE > 0) {
		return 1
	}
	floor := min(p.Floor*p.Floor, p.SE*p.SE)
	se := math.Sqrt((p.SE*p.SE-floor)*float64(p.Known)/float64(known) + floor)
	return min((p.Hi-p.Lo)*se/p.SE, 1)
}

// More returns how many more items, drawn like those that have a better score, must get one
// to make the interval as narrow as width. It returns false if all of them are not enough,
// because the rest of the width is due to the number of items.
func (p Prediction) More(width float64) (int, bool) {
	left := p.Items - p.Known
	switch {
	case p.Known == 0 || !(width > 0):
		return left, false
	case p.Hi-p.Lo <= width:
		return 0, true
	}
	more := sort.Search(left+1, func(k int) bool { return p.Width(p.Known+k) <= width })
	if more > left {
		return left, false
	}
	return more, true
}

// Predict returns prediction-powered inference of the mean of the better scores: their mean
// over the items that have one, plus lambda times the difference between the mean of the
// cheap scores over all items and over these. The items with a better score must be drawn at
// random, or with the probabilities given; then the value is unbiased, whatever the errors of
// the cheap judge, and a good one makes the interval narrow. Scores are between 0 and 1.
//
// The variance is that of the influence of items, summed over clusters, and lambda makes it
// least, so that a judge which errs on whole clusters is trusted less. The interval has
// Wilson's shape, as that of [stat.Clustered.Mean], and Student's quantile; one degree of
// freedom is spent on lambda. For zeros and ones, one item is spread over the four cells of
// the confusion (Perks 1947), so that a judge without an error in a few items does not claim
// to make none.
//
// Source: A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++", arXiv 2311.01453 (2023);
// J. Hájek (1971) for unequal probabilities; R. M. Bell and D. F. McCaffrey (2002), as at
// [stat.RobustError], for clusters.
func Predict(items []Predicted, level float64) Prediction {
	s := newPredictedSums(items)
	p := Prediction{Known: s.known, Items: len(items)}
	if s.known == 0 {
		p.Estimate = stat.NoInterval(0.5, 0, level, stat.Unit, warnNoLabels)
		p.Alone, p.Influence = p.Estimate, make([]float64, len(items))
		return p
	}
	p.Lambda = s.leastVariance()
	p.Estimate, p.Alone = s.at(p.Lambda, level), s.at(0, level)
	if p.Hi-p.Lo > p.Alone.Hi-p.Alone.Lo { // The judge is too weak to make up for the weight that it takes to know.
		p.Estimate, p.Lambda = p.Alone, 0
	}
	p.Floor, p.Influence = s.floor(p.Lambda), make([]float64, len(items))
	for i, it := range items {
		base, slope := s.influence(it)
		p.Influence[i] = base + float64(p.Lambda*slope)
	}
	return p
}

// Calls returns how many better scores alone would give an interval as narrow.
func (p Prediction) Calls() int {
	if !(p.Hi > p.Lo) || p.Method == stat.MethodNone {
		return p.Known
	}
	ratio := (p.Alone.Hi - p.Alone.Lo) / (p.Hi - p.Lo)
	return int(math.Round(float64(p.Known) * ratio * ratio))
}

// A predictedCluster is the sums over one cluster: base + lambda·slope is its influence on
// the mean, times the weight of all items.
type predictedCluster struct{ weight, known, base, slope, judged float64 }

// predictedSums are the sums over all items.
type predictedSums struct {
	known, items int
	weight       float64 // of the better scores
	each         float64 // the weight of all items, for one of the better scores
	all          float64 // the mean of the cheap scores over all items
	truth, judge float64 // the means of the better and of the cheap scores over the items with both
	clusters     []predictedCluster
	counts       Confusion // of zeros and ones
	binary       bool
	effective    float64 // how many better scores of equal weight they are worth
}

func newPredictedSums(items []Predicted) predictedSums {
	s := predictedSums{binary: true, items: len(items)}
	var total, squares float64
	for _, it := range items {
		total += it.Weight
		s.all += it.Weight * it.Judge
		w := it.known()
		if w == 0 {
			continue
		}
		s.known++
		s.weight += w
		squares += w * w
		s.truth += w * it.Truth
		s.judge += w * it.Judge
		s.binary = s.binary && (it.Truth == 0 || it.Truth == 1) && (it.Judge == 0 || it.Judge == 1)
		s.counts.Add(it.Truth >= 0.5, it.Judge >= 0.5)
	}
	if s.known == 0 {
		return s
	}
	s.all, s.truth, s.judge, s.effective = s.all/total, s.truth/s.weight, s.judge/s.weight, s.weight*s.weight/squares
	s.each = total / s.weight
	places := map[string]int{}
	for _, it := range items {
		at, seen := places[it.Cluster]
		if !seen || it.Cluster == "" {
			at = len(s.clusters)
			places[it.Cluster] = at
			s.clusters = append(s.clusters, predictedCluster{})
		}
		c := &s.clusters[at]
		c.weight += it.Weight
		c.known += it.known()
		c.judged += it.Weight * (it.Judge - s.all)
		base, slope := s.influence(it)
		c.base += base
		c.slope += slope
	}
	return s
}

// known returns the weight of the better score, 0 without one.
func (it Predicted) known() float64 {
	switch {
	case math.IsNaN(it.Truth):
		return 0
	case it.Chance > 0:
		return it.Weight / it.Chance
	}
	return it.Weight
}

// influence returns the parts of an item's influence on the mean, times the weight of all
// items: base + lambda·slope.
func (s predictedSums) influence(it Predicted) (base, slope float64) {
	slope = it.Weight * (it.Judge - s.all)
	if w := it.known() * s.each; w > 0 {
		base = w * (it.Truth - s.truth)
		slope -= w * (it.Judge - s.judge)
	}
	return base, slope
}

// leastVariance returns the lambda that makes the sum of the squared influence of clusters
// least.
func (s predictedSums) leastVariance() float64 {
	var squares, products float64
	for _, c := range s.clusters {
		squares += float64(c.slope * c.slope)
		products += float64(c.slope * c.base)
	}
	if !(squares > 1e-12) {
		return 0
	}
	return stat.Unit.Clip(-products / squares)
}

// floor returns the standard error that the choice of all items brings.
func (s predictedSums) floor(lambda float64) float64 {
	whole := make([]stat.Cluster, len(s.clusters))
	for i, c := range s.clusters {
		whole[i] = stat.Cluster{Weight: c.weight, Influence: lambda * c.judged}
	}
	se, _, _ := stat.RobustError(whole)
	return se
}

// at returns the mean for the given lambda.
func (s predictedSums) at(lambda, level float64) stat.Estimate {
	var whole, known []stat.Cluster
	for _, c := range s.clusters {
		whole = append(whole, stat.Cluster{Weight: c.weight, Influence: c.base + float64(lambda*c.slope)})
		if c.known > 0 {
			known = append(known, stat.Cluster{Weight: c.known})
		}
	}
	est := stat.Estimate{Value: stat.Unit.Clip(s.truth + float64(lambda*(s.all-s.judge))), Level: level, N: s.known, Method: "ppi++"}
	if len(whole) < s.items {
		est.Clusters = len(whole)
	}
	se, df, few := stat.RobustError(whole)
	// The error is known from the better scores, which may be in fewer clusters than the items.
	_, ofKnown := stat.AsItems(known)
	spent := s.effective - 1
	if lambda > 0 {
		spent, df = spent-1, df-1
	}
	if df = min(df, ofKnown, spent); !(df > 0) {
		none := stat.NoInterval(est.Value, est.N, level, stat.Unit, warnFewKnown)
		none.Clusters = est.Clusters
		return none
	}
	variance, centre := se*se, est.Value
	if s.binary {
		seen, plus := newCells(s.counts, 0), newCells(s.counts, 0.25)
		variance += max(plus.rectifierVariance(lambda)/spent-seen.rectifierVariance(lambda)/s.effective, 0)
		centre += plus.truth - seen.truth - float64(lambda*(plus.judge-seen.judge))
	}
	est.SE = math.Sqrt(variance)
	// Wilson's shape, for the number of independent zeros and ones with this standard error.
	if variance > 0 && centre > 0 && centre < 1 {
		est.Lo, est.Hi = stat.Wilson(est.Value, centre*(1-centre)/variance, stat.StudentQuantile(level, df))
	} else {
		est.Lo, est.Hi = 0, 1
	}
	est = est.AtMostAsWide(known, stat.Unit)
	if s.known < 50 {
		est = est.Warn(WarnFewLabels)
	}
	if warning := stat.ClusterWarning(len(known), few); est.Clusters > 0 && warning != "" {
		est = est.Warn(warning)
	}
	return est
}

// cells are a confusion as shares.
type cells struct {
	n              float64
	tp, fp, fn, tn float64
	truth, judge   float64 // shares of yes
}

// newCells returns the shares with plus added to each count.
func newCells(c Confusion, plus float64) cells {
	n := float64(c.N()) + 4*plus
	s := cells{
		n: n, tp: (float64(c.TP) + plus) / n, fp: (float64(c.FP) + plus) / n,
		fn: (float64(c.FN) + plus) / n, tn: (float64(c.TN) + plus) / n,
	}
	// Computed from counts, because sums of shares round: 33 of 50 must be 0.66.
	s.truth, s.judge = (float64(c.TP+c.FN)+2*plus)/n, (float64(c.TP+c.FP)+2*plus)/n
	return s
}

func (s cells) truthVariance() float64 { return float64(s.truth * (1 - s.truth)) }

func (s cells) covariance() float64 { return float64(s.tp*s.tn) - float64(s.fp*s.fn) }

// rectifierVariance returns the variance of truth - lambda·verdict.
func (s cells) rectifierVariance(lambda float64) float64 {
	v := s.truthVariance() - float64(2*lambda*s.covariance()) + float64(lambda*lambda*s.judge*(1-s.judge))
	return max(v, 0)
}
