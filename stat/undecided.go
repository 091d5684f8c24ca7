package stat

import "math"

// Guesses collects values that are known only by the probability that they are 1. In a
// mean, each counts with its probability. The zero value is ready to use.
type Guesses struct {
	n             int
	weight, mixed float64
}

// Add adds a value that is 1 with probability p and has the given weight.
func (g *Guesses) Add(p, weight float64) {
	g.n++
	g.weight += weight
	g.mixed += float64(weight * weight * p * (1 - p))
}

// Minus returns the guesses without o, which must be a subset.
func (g Guesses) Minus(o Guesses) Guesses {
	return Guesses{n: g.n - o.n, weight: g.weight - o.weight, mixed: math.Max(0, g.mixed-o.mixed)}
}

// N returns the number of such values.
func (g *Guesses) N() int { return g.n }

// Allowance returns what the guesses bring to a mean over values of the given total weight.
// The calibration error is the distance of the mean of their probabilities from the share of
// ones.
func (g *Guesses) Allowance(total, calibration float64) Allowance {
	if g.n == 0 || !(total > 0) {
		return Allowance{}
	}
	return Allowance{math.Sqrt(g.mixed) / total, g.weight * calibration / total}
}

// An Allowance has the two standard errors that guesses bring to a mean: the chance in each of
// them, and the error that their probabilities share. The zero value means that there are none.
type Allowance struct{ Chance, Shared float64 }

// And returns the allowance of two independent lots of guesses.
func (a Allowance) And(b Allowance) Allowance {
	return Allowance{math.Hypot(a.Chance, b.Chance), math.Hypot(a.Shared, b.Shared)}
}

// calibrationSets is the number of labelled sets from which the calibration error of match
// is known. It is the root mean square of their gaps around zero, so it has that many
// degrees of freedom, and an interval that treats it as a standard error needs Student's
// quantile with that many.
const calibrationSets = 14

// with returns a distance that was computed without guesses, and is q standard errors long,
// with the error of the guesses. The mean of probabilities varies from sample to sample as
// its values do, and the chance in each guess adds nothing to that; but the mean of the
// values that will be known in the end differs by that chance. So the wider of the two
// counts, and the result holds for both.
func (a Allowance) with(sampled, q float64) float64 {
	return math.Hypot(math.Max(sampled, q*a.Chance), q*a.Shared)
}

// Widen returns an estimate with an interval that also allows for the error of guesses. The
// ends stay within b.
func (a Allowance) Widen(e Estimate, b Bounds) Estimate {
	if a == (Allowance{}) || e.Method == MethodNone {
		return e
	}
	q := StudentQuantile(e.Level, calibrationSets)
	e.Lo, e.Hi = b.Clip(e.Value-a.with(e.Value-e.Lo, q)), b.Clip(e.Value+a.with(e.Hi-e.Value, q))
	if e.SE > 0 {
		e.SE = a.with(e.SE, 1)
	}
	return e
}

// Detectable returns the smallest difference that can be detected although some values are
// guesses, from the one that could be if all of them were known.
func (a Allowance) Detectable(known, level, power float64) float64 {
	if a == (Allowance{}) {
		return known
	}
	level, _ = checkLevel(level)
	if !(power > 0 && power < 1) {
		power = DefaultPower
	}
	q := StudentQuantile(level, calibrationSets)
	if power != 0.5 {
		q += math.Copysign(StudentQuantile(math.Abs(2*power-1), calibrationSets), power-0.5)
	}
	return math.Min(a.with(known, math.Max(q, 0)), math.MaxFloat64)
}
