package stat

import "math"

// Guesses gather the values that are not known but for the probability that they are 1. In
// a mean, each counts with its probability. The zero value is ready to use.
type Guesses struct {
	n             int
	weight, mixed float64
}

// Add adds a value that is 1 with probability p, and counts with the given weight.
func (g *Guesses) Add(p, weight float64) {
	g.n++
	g.weight += weight
	g.mixed += float64(weight * weight * p * (1 - p))
}

// Minus returns the guesses without others, which are some of them.
func (g Guesses) Minus(o Guesses) Guesses {
	return Guesses{n: g.n - o.n, weight: g.weight - o.weight, mixed: math.Max(0, g.mixed-o.mixed)}
}

// N returns how many values are not known.
func (g *Guesses) N() int { return g.n }

// SE returns the standard error that the guesses add to a mean over values of the given
// total weight: the chance in each of them, and the error of the probabilities, which is
// how far their mean is from the share of ones and which all of them have in common.
func (g *Guesses) SE(total, calibration float64) float64 {
	if g.n == 0 || !(total > 0) {
		return 0
	}
	shared := g.weight * calibration
	return math.Sqrt(g.mixed+float64(shared*shared)) / total
}

// calibrationSets is how many labelled sets the calibration error of match is known from. It is
// the root mean square of their gaps around zero, so it has as many degrees of freedom, and an
// interval that takes it for a standard error needs Student's quantile with as many.
const calibrationSets = 14

// Widened returns the estimate with an interval that also allows for an error with the
// standard error se, which has nothing to do with the others. The ends stay within b.
func (e Estimate) Widened(se float64, b Bounds) Estimate {
	if !(se > 0) || e.Method == MethodNone {
		return e
	}
	more := tQuantile(e.Level, calibrationSets) * se
	e.Lo = b.clip(e.Value - math.Hypot(e.Value-e.Lo, more))
	e.Hi = b.clip(e.Value + math.Hypot(e.Hi-e.Value, more))
	if e.SE > 0 {
		e.SE = math.Hypot(e.SE, se)
	}
	return e
}
