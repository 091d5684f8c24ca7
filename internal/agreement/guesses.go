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

// SE returns the standard error that the guesses add to a mean over values of the given
// total weight: the random variation of each, and the common error of the probabilities,
// which is the distance of their mean from the share of ones.
func (g *Guesses) SE(total, calibration float64) float64 {
	if g.n == 0 || !(total > 0) {
		return 0
	}
	shared := g.weight * calibration
	return math.Sqrt(g.mixed+float64(shared*shared)) / total
}

// calibrationSets is the number of labelled sets from which the calibration error of match
// is known. It is the root mean square of their gaps around zero, so it has that many
// degrees of freedom, and an interval that treats it as a standard error needs Student's
// quantile with that many.
const calibrationSets = 14

// Widened returns the estimate with an interval that also allows for an independent error
// with the standard error se. The ends stay within b.
func Widened(e stat.Estimate, se float64, b stat.Bounds) stat.Estimate {
	if !(se > 0) || e.Method == stat.MethodNone {
		return e
	}
	more := stat.StudentQuantile(e.Level, calibrationSets) * se
	e.Lo = b.Clip(e.Value - math.Hypot(e.Value-e.Lo, more))
	e.Hi = b.Clip(e.Value + math.Hypot(e.Hi-e.Value, more))
	if e.SE > 0 {
		e.SE = math.Hypot(e.SE, se)
	}
	return e
}
