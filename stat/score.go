package stat

import (
	"maps"
	"math"
	"slices"
)

// A Score is a mean of items, or a mean difference, with everything that is known about its
// error: how items vary, which of them are not independent, and which are guesses. Interval,
// test, margin and power are read from it, so they cannot contradict each other.
type Score struct {
	// Values are the values of all items.
	Values Moments

	// Share reports whether values are shares of yes, which are 0, 1, or, for an item with
	// several trials, in between.
	Share bool

	// Clusters has the same values by cluster, or one value for each cluster with the weight
	// of its items. It is nil if no cluster has two items.
	Clusters *Clustered

	// Undecided is the error of items that count with a probability.
	Undecided Allowance

	// Pairs is set for a difference: how it was made of two values of each item.
	Pairs *Pairs
}

// Pairs describes the difference of two values of each item.
type Pairs struct {
	Up, Down int // items with a larger second, and a larger first value

	// Counts reports whether all values are 0 or 1 and all weights are equal, so that the
	// difference is one of two counts.
	Counts bool

	// Sums are the weighted differences other than 0: of items without a cluster, and the
	// sums of clusters. A test flips their signs.
	Sums []float64
}

// bounds returns the range of the score.
func (s Score) bounds() Bounds {
	if s.Pairs != nil {
		return Bounds{-1, 1}
	}
	return Unit
}

// independent returns the estimate as if no two items shared a cluster and none were a
// guess, with the given interval of a mean.
func (s Score) independent(level float64, mean func(Moments, float64, Bounds) Estimate) Estimate {
	switch {
	case s.Pairs != nil && (s.Pairs.Counts || s.Values.N() == 0):
		return PairedProportions(s.Pairs.Up, s.Pairs.Down, s.Values.N(), level)
	case s.Pairs == nil && (s.Share || s.Values.Binary()):
		return WeightedProportion(s.Values, level)
	}
	return mean(s.Values, level, s.bounds())
}

// At returns the score with its interval at a level. It is Wilson's for shares, Tango's for
// differences of counts, and Student's for others; cluster-robust in clusters, and then no
// narrower than without them if clusters are few; and wider by the error of guesses.
func (s Score) At(level float64) Estimate { return s.by(Mean, (*Clustered).Mean, level) }

// OneSided is like [Score.At], with ends that each are a bound by itself: twice the
// probability beyond either of them is 1 - level. Those of means are corrected for skewness.
// It is for [Score.Equivalence].
func (s Score) OneSided(level float64) Estimate {
	return s.by(OneSidedMean, (*Clustered).OneSided, level)
}

func (s Score) by(mean func(Moments, float64, Bounds) Estimate, clustered func(*Clustered, float64, Bounds) Estimate, level float64) Estimate {
	est := s.independent(level, mean)
	if s.Clusters != nil && s.Values.N() > 0 {
		groups := *s.Clusters
		groups.items = s.Values.N()
		est = s.OfItems(clustered(&groups, level, s.bounds())).AtLeastAsWide(est)
	}
	return s.Undecided.Widen(est, s.bounds())
}

// OfItems returns an estimate from clusters with the mean and the number of the items. The
// mean of clusters differs only in the last digit.
func (s Score) OfItems(est Estimate) Estimate {
	est.Value, est.N = s.bounds().Clip(s.Values.Mean()), s.Values.N()
	est.Lo, est.Hi = math.Min(est.Lo, est.Value), math.Max(est.Hi, est.Value)
	if est.SE > 0 {
		est.EffectiveN = math.Min(s.Values.Variance()/(est.SE*est.SE), math.MaxFloat64)
	}
	return est
}

// Test tests whether a difference is 0: McNemar's exact test for counts of independent
// items, and otherwise a permutation test, in which the items of a cluster are flipped
// together. Neither knows about guesses. With these, p is also at least the one at which
// the interval reaches 0.
func (s Score) Test(seed uint64) Test {
	var test Test
	if s.Clusters == nil && s.Pairs.Counts {
		test = McNemar(s.Pairs.Up, s.Pairs.Down)
	} else {
		test = PairedPermutation(s.Pairs.Sums, 0, seed)
		test.Statistic = s.Values.Mean()
		if s.Clusters != nil {
			test.Method = "cluster-" + test.Method
		}
	}
	if s.Undecided != (Allowance{}) {
		if p := IntervalP(s.At); p > test.P {
			test = Test{Statistic: s.Values.Mean(), P: p, Method: "interval", N: s.Values.N()}
		}
	}
	return test
}

// Detectable returns the smallest difference that these items would show with the given
// power, at most 1, which also stands for none: too few clusters, or no spread from which it
// could be known.
func (s Score) Detectable(level, power float64) float64 {
	n, e := s.Values.N(), s.Values.EffectiveN()
	var least float64
	switch {
	case s.Clusters != nil:
		se, df := s.Clusters.StandardError()
		least = MinDetectable(s.Clusters.Clusters(), se, df, level, power)
	case s.Pairs != nil && s.Pairs.Counts:
		least = MinDetectablePaired(n, float64(s.Pairs.Up+s.Pairs.Down)/float64(n), level, power)
	default:
		least = MinDetectable(n, math.Sqrt(s.Values.Variance()/e), math.Inf(1), level, power)
	}
	if !(least > 0) {
		return 1
	}
	return math.Min(s.Undecided.Detectable(least, level, power), 1)
}

// Parts are the standard errors that a score's own consists of. Their squares add up to its
// square, except that the chance in guesses counts only as far as it exceeds how items vary.
type Parts struct {
	Items     float64 `json:"items"`               // of independent items
	Clusters  float64 `json:"clusters,omitempty"`  // added because items share clusters; 0 if these vary less
	Undecided float64 `json:"undecided,omitempty"` // added by guesses
}

// Parts returns what the standard error of the score consists of.
func (s Score) Parts() Parts {
	p := Parts{}
	if e := s.Values.EffectiveN(); e > 1 {
		p.Items = math.Sqrt(s.Values.Variance() / e)
	}
	sampled := p.Items
	if s.Clusters != nil {
		se, _ := s.Clusters.StandardError()
		p.Clusters = math.Sqrt(math.Max(0, se*se-p.Items*p.Items))
		sampled = math.Hypot(p.Items, p.Clusters)
	}
	total := s.Undecided.with(sampled, 1)
	p.Undecided = math.Sqrt(math.Max(0, total*total-sampled*sampled))
	return p
}

// A Contrast is the difference of two scores, each with an interval at any level.
type Contrast struct {
	One, Rest func(level float64) Estimate

	// Correlation is that of the two scores, for example because items of both share
	// clusters.
	Correlation float64
}

// At returns the difference of the two scores with an interval at the level.
//
// Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect
// measures: a general approach", Statistics in Medicine 27 (2008), 1693-1702: the
// distances from a value to the ends of its interval replace the standard errors, each
// on its own side. For independent proportions it is Newcombe's method 10. It is valid
// if the two intervals are.
func (c Contrast) At(level float64) Estimate {
	a, b := c.One(level), c.Rest(level)
	est := Estimate{Value: a.Value - b.Value, Level: a.Level, N: a.N + b.N, Method: "mover"}
	if a.Method == MethodNone || b.Method == MethodNone {
		est.Method = MethodNone
	}
	est.Lo = math.Max(-1, est.Value-c.join(a.Value-a.Lo, b.Hi-b.Value))
	est.Hi = math.Min(1, est.Value+c.join(a.Hi-a.Value, b.Value-b.Lo))
	for _, warning := range slices.Concat(a.Warnings, b.Warnings) {
		est = est.Warn(warning)
	}
	return est
}

// join combines the distances of two correlated values.
func (c Contrast) join(x, y float64) float64 {
	return math.Sqrt(math.Max(0, float64(x*x)+float64(y*y)-float64(2*c.Correlation*x*y)))
}

// Influence is how much each unit of a run moves an estimate, up to a common factor. A unit
// is a cluster, or an item without one, by a hash of its name.
type Influence map[uint64]float64

// Correlation returns the correlation of two estimates that are moved by the same units,
// from -1 to 1; 0 if none is.
func (a Influence) Correlation(b Influence) float64 {
	both, ones, others := 0.0, 0.0, 0.0
	for _, unit := range slices.Sorted(maps.Keys(a)) { // in order, so that the sum is reproducible
		both += float64(a[unit] * b[unit])
		ones += float64(a[unit] * a[unit])
	}
	for _, unit := range slices.Sorted(maps.Keys(b)) {
		others += float64(b[unit] * b[unit])
	}
	r := both / math.Sqrt(ones*others)
	if !(r >= -1 && r <= 1) {
		return 0
	}
	return r
}

// smallestP is where the search for a p-value ends. A 95% interval cannot support a smaller
// one.
const smallestP = 1e-9

// IntervalP returns the p-value that corresponds to intervals: the one at which the end of
// the interval at level 1-p nearer to 0 reaches 0, between 1e-9 and 1. It is 1 without an
// interval.
func IntervalP(at func(level float64) Estimate) float64 {
	if at(0.5).Method == MethodNone {
		return 1
	}
	beyond := func(log float64) float64 {
		est := at(1 - math.Exp(log))
		if est.Value < 0 {
			return -est.Hi
		}
		return est.Lo
	}
	found := math.Exp(root(beyond, math.Log(smallestP), math.Log(1-1e-9)))
	scale := math.Pow(10, 3-math.Floor(math.Log10(found))) // four digits, the precision of the search
	return math.Min(math.Round(found*scale)/scale, 1)
}

// root returns where f, an increasing function, crosses 0 between lo and hi, to one part in
// 10⁹, or the nearer end if it does not.
//
// Source: the Illinois method (M. Dowell and P. Jarratt, "A modified regula falsi method
// for computing the root of an equation", BIT 11, 1971): a line through both ends finds the
// crossing in few steps, and an end that stays twice counts half.
func root(f func(float64) float64, lo, hi float64) float64 {
	below, above := f(lo), f(hi)
	if below > 0 {
		return lo
	}
	if above <= 0 {
		return 0 // p is 1
	}
	last := 0
	for range 100 {
		x := hi - above*(hi-lo)/(above-below)
		if x <= lo { // f(lo) is as good as 0
			return lo
		}
		if hi-lo < 1e-9 || x >= hi {
			break
		}
		switch y := f(x); {
		case y > 0:
			if hi-x < 1e-10 {
				return x
			}
			hi, above = x, y
			if last > 0 {
				below /= 2
			}
			last = 1
		default:
			if x-lo < 1e-10 {
				return x
			}
			lo, below = x, y
			if last < 0 {
				above /= 2
			}
			last = -1
		}
	}
	return hi
}
