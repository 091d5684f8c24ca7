package agreement

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"deem/stat"
)

// The warnings of a correlation.
const (
	warnFewPairs = "there are too few pairs for an interval"
	warnPerfect  = "the correlation is perfect, so its spread is unknown: the interval has no width"
	warnTwoPairs = "two pairs always correlate perfectly: there is nothing to test"
)

// A Correlation is a correlation coefficient of two lists of numbers, from -1 to 1.
type Correlation struct {
	stat.Estimate

	// P is the probability of a correlation at least this far from 0 if there is none.
	P float64 `json:"p"`
}

// MarshalJSON writes the fields of the estimate and those of the correlation.
func (c Correlation) MarshalJSON() ([]byte, error) {
	return withEstimate(c.Estimate, struct {
		P float64 `json:"p"`
	}{c.P})
}

// errNoSpread is returned if all values of one list are equal.
var errNoSpread = errors.New("all values of one side are equal, so no correlation is defined")

// Pearson returns the linear correlation of x and y, with Fisher's interval at level 0.95.
// It returns an error if the lists differ in length, have fewer than two pairs or a number
// that is not finite, or if one of them has no spread.
//
// Source: K. Pearson (1895); the p-value is exact for normal values (Student 1908); the
// interval is that of R. A. Fisher, "On the probable error of a coefficient of
// correlation", Metron 1 (1921), for normal values and four or more pairs.
func Pearson(x, y []float64) (Correlation, error) {
	if err := checkPairs(x, y); err != nil {
		return Correlation{}, err
	}
	n := len(x)
	if n == 2 {
		r := float64(cmp.Compare(x[1], x[0]) * cmp.Compare(y[1], y[0]))
		return Correlation{noInterval(r, n).Warn(warnTwoPairs), 1}, nil
	}
	// Both are scaled to length 1, so that nothing overflows; sums are exact, so their order
	// does not matter.
	x, y = unitVector(x), unitVector(y)
	var sum exact
	for i := range x {
		sum.addProduct(x[i], y[i])
	}
	r := max(-1, min(sum.float(), 1))
	p := 2 * mathext.RegIncBeta(float64(n)/2-1, float64(n)/2-1, (1-math.Abs(r))/2)
	return Correlation{zInterval(r, n, 1, 3, "fisher-z"), min(p, 1)}, nil
}

// Spearman returns the correlation of the ranks of x and y, with the mean rank for equal
// values, and the interval of Bonett and Wright at level 0.95. Errors are
// those of [Pearson].
//
// Source: C. Spearman (1904); the p-value uses Student's t with n-2 degrees of
// freedom, which is good from some ten pairs on (Kendall and Stuart); the interval
// is that of D. G. Bonett and T. A. Wright, Psychometrika 65 (2000), 23-28, good for
// correlations up to 0.95 or so and 25 pairs.
func Spearman(x, y []float64) (Correlation, error) {
	if err := checkPairs(x, y); err != nil {
		return Correlation{}, err
	}
	n := len(x)
	x, y = MidRanks(x), MidRanks(y)
	mean := float64(n+1) / 2
	// Sums of halves are exact, so only the last operations round.
	var xx, yy, xy float64
	for i := range x {
		xx += (x[i] - mean) * (x[i] - mean)
		yy += (y[i] - mean) * (y[i] - mean)
		xy += (x[i] - mean) * (y[i] - mean)
	}
	scale := 1 / float64(n-1)
	sx, sy := math.Sqrt(xx*scale), math.Sqrt(yy*scale)
	r := max(-1, min(xy*scale/sx/sy, 1))
	if n == 2 {
		return Correlation{noInterval(r, n).Warn(warnTwoPairs), 1}, nil
	}
	est := zInterval(r, n, 1+float64(r*r)/2, 3, "bonett-wright")
	if math.Abs(r) == 1 {
		return Correlation{est, 0}, nil
	}
	df := float64(n - 2)
	t := r * math.Sqrt(df/((r+1)*(1-r)))
	return Correlation{est, stat.StudentTail(t, df)}, nil
}

// checkPairs returns an error if two lists have no correlation.
func checkPairs(x, y []float64) error {
	switch {
	case len(x) != len(y):
		return fmt.Errorf("%d values cannot be paired with %d", len(x), len(y))
	case len(x) < 2:
		return fmt.Errorf("a correlation needs two pairs at least, and there are %d", len(x))
	}
	for _, list := range [][]float64{x, y} {
		for i, v := range list {
			if !(math.Abs(v) <= maxSize) {
				return fmt.Errorf("value %d of a correlation is %v, which is not a usable number", i+1, v)
			}
		}
		if slices.Min(list) == slices.Max(list) {
			return errNoSpread
		}
	}
	return nil
}

// zInterval returns the interval of a correlation around its inverse hyperbolic
// tangent, whose variance is scale/(n-less).
func zInterval(r float64, n int, scale, less float64, method string) stat.Estimate {
	if float64(n) <= less {
		return noInterval(r, n).Warn(warnFewPairs)
	}
	est := stat.Estimate{Value: r, Lo: r, Hi: r, Level: stat.DefaultLevel, N: n, Method: method}
	if math.Abs(r) == 1 {
		return est.Warn(warnPerfect)
	}
	z, half := math.Atanh(r), float64(normalQuantile(stat.DefaultLevel)*math.Sqrt(scale/(float64(n)-less)))
	est.Lo, est.Hi = min(math.Tanh(z-half), r), max(math.Tanh(z+half), r)
	return est
}

// noInterval returns the estimate of a correlation without an interval.
func noInterval(r float64, n int) stat.Estimate {
	return stat.Estimate{Value: r, Lo: -1, Hi: 1, Level: stat.DefaultLevel, N: n, Method: stat.MethodNone}
}

// unitVector returns the deviations of x from their mean, divided by their length.
func unitVector(x []float64) []float64 {
	var sum exact
	for _, v := range x {
		sum.add(v)
	}
	mean, most := sum.float()/float64(len(x)), 0.0
	dev := make([]float64, len(x))
	for i, v := range x {
		dev[i] = v - mean
		most = max(most, math.Abs(dev[i]))
	}
	// Scaling by a power of two is exact and prevents squares from underflowing.
	_, exp := math.Frexp(most)
	var squares exact
	for i, d := range dev {
		dev[i] = math.Ldexp(d, -exp)
		squares.addProduct(dev[i], dev[i])
	}
	length := math.Sqrt(squares.float())
	for i := range dev {
		dev[i] /= length
	}
	return dev
}

// MidRanks returns the rank of each value from 1 on; tied values share the mean of
// their ranks.
func MidRanks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks := make([]float64, len(values))
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && values[order[end]] == values[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			ranks[i] = float64(start+1+end) / 2
		}
		start = end
	}
	return ranks
}
