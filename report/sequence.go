package report

import (
	"math"
	"slices"

	"deem/stat"
)

const (
	// sequenceSteps is the resolution of the ends of a sequence: 0.01 percentage points.
	// They are rounded outwards, which only widens the interval.
	sequenceSteps = 10_000

	// betShare is the largest share of the capital that a bet may lose.
	betShare = 0.75
)

// A sequence is a confidence sequence for the mean of values between 0 and 1: after
// every value it has an interval, and with the given probability all of these intervals
// contain the mean. So the intervals may be looked at after every value, and the
// values may end at any time and for any reason that looks at them.
//
// Values come in units, which are independent draws from one population: an item, or a
// cluster of items. A unit is the weighted sum of its values with its weight, both as
// shares of the largest weight that a unit can have. The mean is that of all values, the
// sum of the sums over the sum of the weights. A value that is not known has two sums,
// with the value at 0 and at 1: the interval is then valid whatever the value is.
//
// Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
// betting", Journal of the Royal Statistical Society B 86 (2024): the hedged capital
// process (theorem 3) with theta = 1/2. A mean m is ruled out from below if
//
//	K(m) = average over aims of product over units i of 1 + min(bet_i, 3/4 / m) (u_i - m v_i)
//
// reaches 2/alpha, and from above in the same way with v_i - u_i in place of u_i and 1 - m
// in place of m. Here u_i is the sum of unit i and v_i its weight; in the paper v_i is 1.
// At the true mean each factor has expectation 1 whatever came before, because a bet uses
// only earlier units, and so has the average of such products. By Ville's inequality K
// then ever reaches 2/alpha with probability alpha/2 at most. K falls with m, so what is
// ruled out from below is everything up to some m.
//
// Any such bet is valid. These are the approximate Kelly bets of the paper (aGRAPA), with
// a fixed distance d from the truth, the aim, in place of an estimate of it:
//
//	bet_i = d w / (s^2 + (d w)^2)
//
// where w is the mean weight of the earlier units, and s^2 is the variance of the paper's
// predictable plug-in: (1/4 + sum over earlier j of (u_j - mean_j v_j)^2) / i. An interval
// whose bets aim at d is the first to become as narrow as ±d.
type sequence struct {
	level float64
	n     int
	below bettor // rules out means that are too low
	above bettor // rules out means that are too high, as 1 - mean
}

// newSequence returns a sequence at a confidence level, whose bets aim at the given
// distances. The aims must not depend on the values.
func newSequence(level float64, aims ...float64) *sequence {
	limit := 2 / (1 - level)
	s := &sequence{level: level}
	for _, b := range []*bettor{&s.below, &s.above} {
		b.limit = limit
		for _, aim := range aims {
			if aim > 0 && aim <= 1 {
				b.aims = append(b.aims, aim)
			}
		}
		if len(b.aims) == 0 {
			b.aims = []float64{0.05}
		}
		b.restart()
	}
	return s
}

// Add adds a unit: the sum of its values with unknown values at 0, the sum with unknown
// values at 1, and its weight, all as shares of the largest weight of a unit. Sums beyond
// what the weight allows are clamped, and a unit without a weight is ignored.
func (s *sequence) Add(low, high, weight float64) {
	if !(weight > 0) || math.IsNaN(low) || math.IsNaN(high) {
		return
	}
	weight = math.Min(weight, 1)
	within := stat.Bounds{Lo: 0, Hi: weight}
	low, high = within.Clip(math.Min(low, high)), within.Clip(math.Max(low, high))
	s.n++
	s.below.add(low, weight)
	s.above.add(weight-high, weight)
}

// Estimate returns the interval after the units so far: the intersection of all intervals
// up to now. The value is the mean, with unknown values at one half, clamped to the
// interval.
func (s *sequence) Estimate() stat.Estimate {
	lo, hi := s.below.end(), 1-s.above.end()
	if hi < lo { // The one case in twenty at most: the intervals have nothing in common.
		lo, hi = hi, lo
	}
	value := 0.5
	if s.n > 0 {
		value = (s.below.sum + s.below.weights - s.above.sum) / 2 / s.below.weights
	}
	e := stat.Estimate{Value: stat.Bounds{Lo: lo, Hi: hi}.Clip(value), Lo: lo, Hi: hi, Level: s.level, N: s.n, Method: "betting"}
	if s.n == 0 {
		return e.Warn(stat.WarnNoValues)
	}
	return e
}

// A bettor bets that the mean is higher than some m, for all m at once.
type bettor struct {
	aims  []float64
	limit float64 // the capital that rules m out

	units   []betUnit
	bets    []float64 // on each unit, one for each aim
	sum     float64
	weights float64
	squares float64 // of what the units were off the mean

	ruled   int       // every m up to this step is ruled out
	capital []float64 // of each aim at the next step
}

// A betUnit is the sum of a unit and its weight.
type betUnit struct{ u, v float64 }

// end returns the largest mean that is ruled out.
func (b *bettor) end() float64 { return float64(b.ruled) / sequenceSteps }

// add places the bets on a unit, and then adds the unit.
func (b *bettor) add(u, v float64) {
	n := float64(len(b.units))
	variance := (0.25 + b.squares) / (n + 1)
	weight := (1 + b.weights) / (n + 1)
	for _, aim := range b.aims {
		d := aim * weight
		b.bets = append(b.bets, d/(variance+d*d))
	}
	b.units = append(b.units, betUnit{u, v})
	b.sum, b.weights = b.sum+u, b.weights+v
	off := u - v*(0.5+b.sum)/(1+b.weights)
	b.squares += off * off
	b.play(b.ruled+1, len(b.units)-1)
	if b.ruled+1 >= sequenceSteps || b.mean() < b.limit {
		return
	}
	// The next step is ruled out. Find the last one that is: capital falls with the mean.
	out, in := b.ruled+1, b.ruled+2
	for in < sequenceSteps && b.rulesOut(in) {
		out, in = in, in+2*(in-b.ruled)
	}
	for in = min(in, sequenceSteps); in-out > 1; {
		if middle := (out + in) / 2; b.rulesOut(middle) {
			out = middle
		} else {
			in = middle
		}
	}
	b.ruled = out
	b.rulesOut(out + 1)
}

// rulesOut computes the capital at a step after all units, and reports whether it rules
// out the mean at that step.
func (b *bettor) rulesOut(step int) bool {
	b.restart()
	for i := range b.units {
		b.play(step, i)
	}
	return b.mean() >= b.limit
}

// restart sets the capital to its initial value.
func (b *bettor) restart() {
	b.capital = slices.Grow(b.capital[:0], len(b.aims))
	for range b.aims {
		b.capital = append(b.capital, 1)
	}
}

// play updates the capital at a step for one unit.
func (b *bettor) play(step, i int) {
	m := float64(step) / sequenceSteps
	unit := b.units[i]
	off, most := unit.u-m*unit.v, betShare/m
	for j := range b.capital {
		b.capital[j] *= 1 + min(b.bets[i*len(b.capital)+j], most)*off
	}
}

// mean returns the capital of all aims together.
func (b *bettor) mean() float64 {
	sum := 0.0
	for _, k := range b.capital {
		sum += k
	}
	return sum / float64(len(b.capital))
}
