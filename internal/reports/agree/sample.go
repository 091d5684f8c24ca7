package agree

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"deem/internal/agreement"
	"deem/stat"
)

// A single is a judged item without a label.
type single struct {
	traits
	yes          bool
	score, share float64 // the means of its trials: their scores, and the share of yes
}

// traits are the known properties of a judged item, with or without a label. Items to label
// may have been selected by any of them.
type traits struct {
	category, cluster string
	confidence        float64 // -1 if the judge gives none
	position, length  int     // position in the dataset, and bytes of the response
	weight            float64
	unit              uint64 // a hash of the cluster, or of the id without one
	undecided         bool   // the score is a probability given by the judge
	unsure            bool   // the judge is unsure of its decision, by [Unsure]
}

// certainty returns the confidence of the judge in its decision, or, for an undecided item,
// the probability of the likelier one; NaN if it gives neither.
func (t traits) certainty(share float64) float64 {
	switch {
	case t.undecided:
		return max(share, 1-share)
	case t.confidence < 0:
		return math.NaN()
	}
	return t.confidence
}

// A sample is labelled items with the way they were drawn from the judged items of a run.
type sample struct {
	both  []paired
	table agreement.YesNo // of weights

	weight []float64 // of each labelled item: the number of judged items it represents
	place  []int     // of each labelled item: its cluster
	sizes  []float64 // weight of the items in each cluster

	// The strata of the run, within which labels were drawn at random, if it has strata.
	strata []stratum
	of     []int     // of each labelled item: its stratum
	alone  []int     // of each judged item without a label: its stratum
	at     []int     // its cluster
	apart  []float64 // and its weight
}

// A stratum is a part of the run with the same verdict of the judge, in which labels were
// drawn at random. It has the weight of its items, of those with a label, and of those that
// people accept.
type stratum struct {
	items, labels, yes float64
	squares            float64 // of the weights of labelled items
	all                float64 // the squares of the weights of all items
	drawn              int     // items with a label
	verdict            bool
}

func (s *stratum) add(o stratum) {
	s.items += o.items
	s.labels += o.labels
	s.yes += o.yes
	s.squares += o.squares
	s.all += o.all
	s.drawn += o.drawn
}

// effective returns how many labels of equal weight those of the stratum are worth.
func (s *stratum) effective() float64 { return s.labels * s.labels / s.squares }

// mean returns the mean of what z is for the labels of the stratum.
func (s *stratum) mean(z influence) float64 {
	return (s.yes*z(true, s.verdict) + (s.labels-s.yes)*z(false, s.verdict)) / s.labels
}

// sampleOf returns labelled items as a sample of judged items, of which those in alone have
// no label.
func (b *Builder) sampleOf(both []paired, alone []single) *sample {
	s := &sample{both: both, weight: make([]float64, len(both)), place: make([]int, len(both))}
	how := b.drawn()
	if how == byVerdict || how == byPlan {
		s.stratify(alone, how == byPlan)
	}
	places := map[string]int{}
	in := func(cluster string, weight float64) int {
		at, known := places[cluster]
		if !known || cluster == "" {
			at = len(s.sizes)
			places[cluster] = at
			s.sizes = append(s.sizes, 0)
		}
		s.sizes[at] += weight
		return at
	}
	for i, it := range both {
		counts := it.traits.weight
		s.weight[i] = counts
		switch {
		case s.strata != nil:
			h := s.strata[s.of[i]]
			s.weight[i] *= h.items / h.labels
		case how == byProbability:
			s.weight[i] /= it.probability
			counts = s.weight[i]
		}
		s.place[i] = in(it.cluster, counts)
		s.table.Add(it.truth, it.judge, s.weight[i])
	}
	if s.strata != nil {
		for _, it := range alone {
			s.at, s.apart = append(s.at, in(it.cluster, it.weight)), append(s.apart, it.weight)
		}
	}
	return s
}

// stratify divides the run by category and verdict, and, for the labels of a plan, by whether
// the judge is unsure. It leaves the strata nil if one of the judge's verdicts has no label at
// all, because nothing is known about such items.
func (s *sample) stratify(alone []single, planned bool) {
	cells := map[cell]*stratum{}
	in := func(t traits, yes bool) cell { return cell{t.category, yes, planned && t.unsure} }
	count := func(key cell, one stratum) {
		if cells[key] == nil {
			cells[key] = &stratum{verdict: key.yes}
		}
		cells[key].add(one)
	}
	for _, it := range s.both {
		w := it.traits.weight
		one := stratum{items: w, labels: w, squares: w * w, all: w * w, drawn: 1}
		if it.truth {
			one.yes = w
		}
		count(in(it.traits, it.judge), one)
	}
	for _, it := range alone {
		count(in(it.traits, it.yes), stratum{items: it.weight, all: it.weight * it.weight})
	}
	least := thin
	if planned {
		least = 1 // Each cell was drawn from separately, with a known probability.
	}
	strata, index, ok := merge(cells, least)
	if !ok {
		return
	}
	s.strata = strata
	for _, it := range s.both {
		s.of = append(s.of, index[in(it.traits, it.judge)])
	}
	for _, it := range alone {
		s.alone = append(s.alone, index[in(it.traits, it.yes)])
	}
}

// thin is the number of labels below which a stratum is merged with others, unless a plan
// drew from it.
const thin = 5

// merge merges the cells of one verdict that have fewer than least labels and, if that is
// not enough, all cells of that verdict. It returns false if a verdict has items but no
// labels.
func merge(cells map[cell]*stratum, least int) (strata []stratum, index map[cell]int, ok bool) {
	keys := slices.SortedFunc(maps.Keys(cells), func(x, y cell) int {
		return cmp.Or(strings.Compare(x.category, y.category), cmp.Compare(agreement.Number(x.unsure), agreement.Number(y.unsure)))
	})
	index = map[cell]int{}
	for _, verdict := range []bool{true, false} {
		whole, rest := stratum{verdict: verdict}, stratum{verdict: verdict}
		for _, key := range keys {
			if key.yes == verdict {
				whole.add(*cells[key])
				if cells[key].drawn < least {
					rest.add(*cells[key])
				}
			}
		}
		if whole.items > 0 && whole.drawn == 0 {
			return nil, nil, false
		}
		together := rest.items > 0 && rest.drawn < least
		if together {
			rest = whole
		}
		last := -1
		for _, key := range keys {
			switch {
			case key.yes != verdict:
				continue
			case together || cells[key].drawn < least:
				if last < 0 {
					last = len(strata)
					strata = append(strata, rest)
				}
				index[key] = last
			default:
				index[key] = len(strata)
				strata = append(strata, *cells[key])
			}
		}
	}
	return strata, index, true
}

// An influence returns how much an estimate changes with an item with these decisions of
// people and judge, times the number of items.
type influence func(truth, judge bool) float64

// design returns how much less information the sample has about an estimate than the same
// number of independent items.
func (s *sample) design(z influence) agreement.Design {
	n := float64(len(s.both))
	clustered := len(s.sizes) < len(s.both)+len(s.at)
	weighted := slices.ContainsFunc(s.weight, func(w float64) bool { return w != s.weight[0] })
	if n < 2 || s.strata == nil && !clustered && !weighted {
		return agreement.Design{}
	}
	// The ratio of the variances with and without clusters is computed from the observed
	// data, and applied to the variance, which allows for what was not observed.
	d := agreement.Design{Effect: 1, DF: max(n-float64(max(len(s.strata), 1)), 1)}
	if clustered {
		d = agreement.InClusters(s.sums(z))
	}
	variance, base := s.variance(z)
	if base > 0 {
		d.Effect *= variance / base
	}
	return d
}

// variance returns the variance of an estimate without clusters, and its variance for the
// same number of independent items of equal weight.
//
// Source: W. G. Cochran, Sampling Techniques (1977), section 12.2, double sampling for
// stratification, applied to the influence of the items: the variance within the strata,
// weighted by the square of their weight, plus the variance between them. Half a label of
// either kind is added to each verdict, so that one without errors does not claim certainty.
// A stratum gets the root of its share of the verdict's labels, and as far as that is less
// than one half, its variance has Bessel's correction: with all of it, sixteen strata would
// claim eight errors more than there are, and with its share the errors that no label of a
// stratum shows would be missing (TestBridgePairs).
func (s *sample) variance(z influence) (variance, base float64) {
	n := float64(len(s.both))
	if s.strata == nil {
		total, squares, both := 0.0, 0.0, 0.0
		for i, it := range s.both {
			x := z(it.truth, it.judge)
			total += s.weight[i]
			squares += s.weight[i] * x * x
			both += s.weight[i] * s.weight[i] * x * x
		}
		return both / (total * total) * n / (n - 1), squares / total / (n - 1)
	}
	total, squares := 0.0, 0.0
	drawn := map[bool]float64{} // labels of each verdict
	for _, h := range s.strata {
		total += h.items
		squares += h.all
		drawn[h.verdict] += h.effective()
	}
	for _, h := range s.strata {
		w, labels := h.items/total, h.effective()
		part := math.Sqrt(labels / drawn[h.verdict])
		p := (h.yes/h.labels*labels + 0.5*part) / (labels + part)
		spread := min(p*(1-p)*labels/(labels-1+part), 0.25)
		yes, no := z(true, h.verdict), z(false, h.verdict)
		mean := h.mean(z)
		variance += w*w*spread*(yes-no)*(yes-no)/labels + w*mean*mean*squares/total/total
		base += w * (p*yes*yes + (1-p)*no*no)
	}
	return variance, base / max(n-1, 1)
}

// sums returns the influence of clusters and of single items.
func (s *sample) sums(z influence) (whole, apart []stat.Cluster) {
	whole = make([]stat.Cluster, len(s.sizes))
	for i, size := range s.sizes {
		whole[i].Weight = size
	}
	add := func(place int, weight, x float64) {
		whole[place].Influence += x
		apart = append(apart, stat.Cluster{Weight: weight, Influence: x})
	}
	labelled, alone := s.influences(z)
	for i, it := range s.both {
		weight := it.traits.weight
		if s.strata == nil {
			weight = s.weight[i]
		}
		add(s.place[i], weight, labelled[i])
	}
	for i, x := range alone {
		add(s.at[i], s.apart[i], x)
	}
	return whole, apart
}

// influences returns the influence of each labelled item and of each of the others, times
// its weight. The others matter only in strata.
func (s *sample) influences(z influence) (labelled, alone []float64) {
	mean := make([]float64, len(s.strata))
	for i, h := range s.strata {
		mean[i] = h.mean(z)
	}
	for i, it := range s.both {
		x := s.weight[i] * z(it.truth, it.judge)
		if s.strata != nil {
			m := mean[s.of[i]]
			x += m * (it.traits.weight - s.weight[i])
		}
		labelled = append(labelled, x)
	}
	for i, h := range s.alone {
		alone = append(alone, s.apart[i]*mean[h])
	}
	return labelled, alone
}

// share returns the share of the items selected by hit among those selected by of, with its
// interval and the number of labels.
func (s *sample) share(hit, of func(truth, judge bool) bool) stat.Estimate {
	n, weight, hits := 0, 0.0, 0.0
	for i, it := range s.both {
		if !of(it.truth, it.judge) {
			continue
		}
		n++
		weight += s.weight[i]
		if hit(it.truth, it.judge) {
			hits += s.weight[i]
		}
	}
	if n == 0 {
		return stat.Proportion(0, 0, stat.DefaultLevel)
	}
	p, part := hits/weight, weight/s.table.Sum()
	d := s.design(func(truth, judge bool) float64 {
		switch {
		case !of(truth, judge):
			return 0
		case hit(truth, judge):
			return (1 - p) / part
		}
		return -p / part
	})
	if s.strata != nil {
		// Few labels determine the variance if few items are of the kind that the share is
		// about.
		d.DF = max(min(d.DF, float64(n-len(s.strata))), 1)
	}
	return d.Share(p, n, stat.DefaultLevel)
}

// beyond returns a chance-corrected coefficient of agreement.
func (s *sample) beyond(c agreement.Coefficient) stat.Estimate {
	d := s.design(func(truth, judge bool) float64 { return s.table.Influence(c, truth, judge) })
	return s.table.Beyond(c, len(s.both), d, stat.DefaultLevel)
}

// mcc returns Matthews' correlation of the weighted counts, 0 if a side has no spread.
func (s *sample) mcc() float64 {
	t := s.table
	spread := math.Sqrt((t.TP + t.FN) * (t.FP + t.TN) * (t.TP + t.FP) * (t.FN + t.TN))
	if spread == 0 {
		return 0
	}
	return (t.TP*t.TN - t.FP*t.FN) / spread
}
