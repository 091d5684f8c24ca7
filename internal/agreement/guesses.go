package agreement

import (
	"math"

	"deem/stat"
)

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

// An Allowance has the two standard errors that guesses bring to a mean: the chance in each of
// them, and the error that their probabilities share.
type Allowance struct{ Chance, Shared float64 }

// And returns the allowance of two independent lots of guesses.
func (a Allowance) And(b Allowance) Allowance {
	return Allowance{math.Hypot(a.Chance, b.Chance), math.Hypot(a.Shared, b.Shared)}
}

// Allowance returns what the guesses bring to a mean over values of the given total weight.
// The calibration error is the distance of the mean of their probabilities from the share of
// ones.
func (g *Guesses) Allowance(total, calibration float64) Allowance {
	if g.n == 0 || !(total > 0) {
		return Allowance{}
	}
	return Allowance{math.Sqrt(g.mixed) / total, g.weight * calibration / total}
}

// calibrationSets is the number of labelled sets from which the calibration error of match
// is known. It is the root mean square of their gaps around zero, so it has that many
// degrees of freedom, and an interval that treats it as a standard error needs Student's
// quantile with that many.
const calibrationSets = 14

// Widened returns the estimate with an interval that also allows for the error of guesses. The
// mean of probabilities varies from sample to sample as its values do, and the chance in each
// guess adds nothing to that; but the mean of the values that will be known in the end differs by
// that chance. So the wider of the two counts, and the interval holds for both. The ends stay
// within b.
func Widened(e stat.Estimate, a Allowance, b stat.Bounds) stat.Estimate {
	if a == (Allowance{}) || e.Method == stat.MethodNone {
		return e
	}
	q := stat.StudentQuantile(e.Level, calibrationSets)
	arm := func(sampled float64) float64 { return math.Hypot(math.Max(sampled, q*a.Chance), q*a.Shared) }
	e.Lo, e.Hi = b.Clip(e.Value-arm(e.Value-e.Lo)), b.Clip(e.Value+arm(e.Hi-e.Value))
	if e.SE > 0 {
		e.SE = math.Hypot(math.Max(e.SE, a.Chance), a.Shared)
	}
	return e
}
