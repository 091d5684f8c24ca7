package agreement

import (
	"math"
	"math/rand/v2"
	"slices"

	"deem/stat"
)

// methodPosterior is the method of an interval of agreement beyond chance from the
// posterior distribution of the four counts.
const methodPosterior = "dirichlet"

// fewRated is the number of items below which agreement beyond chance has no interval.
const fewRated = 20

// warnFewRated says why there is no interval.
const warnFewRated = "fewer than 20 items: too few for an interval of agreement beyond chance"

// A Coefficient is a way to compare agreement with what chance would give.
type Coefficient string

// The coefficients of two judges who say yes or no.
const (
	CohenKappa        Coefficient = "cohen"        // each judge has its own rate of yes
	KrippendorffAlpha Coefficient = "krippendorff" // one rate of yes for both, and a correction for small n

	// GwetAC is Gwet's AC1. It stays near the share of agreement if one label is much more
	// frequent than the other, where kappa collapses.
	GwetAC Coefficient = "gwet"
)

// A YesNo is a [Confusion] whose items may have weights.
type YesNo struct{ TP, FP, FN, TN float64 }

// Add adds an item with its weight: the decisions of people and of the judge.
func (y *YesNo) Add(truth, given bool, weight float64) {
	switch {
	case truth && given:
		y.TP += weight
	case given:
		y.FP += weight
	case truth:
		y.FN += weight
	default:
		y.TN += weight
	}
}

// Sum returns the weight of all items.
func (y YesNo) Sum() float64 { return y.TP + y.FP + y.FN + y.TN }

// rates returns the shares of agreement, and of yes on each side.
func (y YesNo) rates() (agreed, truth, given float64) {
	n := y.Sum()
	return (y.TP + y.TN) / n, (y.TP + y.FN) / n, (y.TP + y.FP) / n
}

// chance returns the agreement expected by chance, and its derivatives with respect to the
// rates of yes.
func (y YesNo) chance(c Coefficient) (expected, byTruth, byGiven float64) {
	_, a, b := y.rates()
	m := (a + b) / 2
	switch c {
	case CohenKappa:
		return float64(a*b) + float64((1-a)*(1-b)), 2*b - 1, 2*a - 1
	case GwetAC:
		return 2 * m * (1 - m), 1 - 2*m, 1 - 2*m
	default:
		return float64(m*m) + float64((1-m)*(1-m)), 2*m - 1, 2*m - 1
	}
}

// value returns the coefficient, and whether it is defined. Alpha corrects for drawing
// labels without replacement from the two labels of each of n items.
func (y YesNo) value(c Coefficient, n float64) (float64, bool) {
	agreed, _, _ := y.rates()
	e, _, _ := y.chance(c)
	if !(1-e >= 1e-12) {
		return 0, false
	}
	rest := (1 - agreed) / (1 - e)
	if c == KrippendorffAlpha {
		rest *= 1 - 1/(2*n)
	}
	return max(-1, min(1-rest, 1)), true
}

// Influence returns the influence of an item on the coefficient, times the number of items.
func (y YesNo) Influence(c Coefficient, truth, given bool) float64 {
	agreed, a, b := y.rates()
	e, byTruth, byGiven := y.chance(c)
	k, ok := y.value(c, math.Inf(1))
	if !ok {
		return 0
	}
	de := float64(byTruth*(Number(truth)-a)) + float64(byGiven*(Number(given)-b))
	return (Number(truth == given) - agreed - float64((1-k)*de)) / (1 - e)
}

// Beyond returns agreement beyond chance of a judge and people, from n items with the
// weights in y. If it is undefined, because both gave the same label to everything, the
// value is 0 and there is no interval. There is also none below fewRated items.
//
// The interval is that of the posterior distribution of the four shares, for the number of
// independent items that the design is worth. A quarter and then a half of an item is added
// to each of the four counts beforehand (Perks 1947, Jeffreys 1946), and the interval spans
// both results: the first is better if judge and people hardly ever differ, the second if
// one label is rare. The large-sample intervals of Fleiss, Cohen and Everitt and of Gwet
// contain kappa and AC1 in 65% and 70% of simulations with 50 items and 95% of yes; this
// one does in 93% to 99% from 20 items on. The draws are deterministic.
func (y YesNo) Beyond(c Coefficient, n int, d Design, level float64) stat.Estimate {
	est := stat.Estimate{Lo: -1, Hi: 1, Level: level, N: n, Method: stat.MethodNone, Clusters: d.Clusters}
	if n <= 0 {
		return est.Warn(stat.WarnNoValues)
	}
	value, ok := y.value(c, float64(n))
	switch est.Value = value; {
	case !ok:
		return est.Warn(WarnOneClass)
	case n < fewRated:
		return est.Warn(warnFewRated)
	case d.Clusters == 1:
		return est.Warn(stat.ClusterWarning(1, false))
	}
	t := Design{DF: float64(n - 1)}.quantile(level)
	if d.DF > 0 {
		t = d.quantile(level)
	}
	ratio := normalQuantile(level) / t
	scale := float64(n) / d.effect() * ratio * ratio / y.Sum()
	est.Lo, est.Hi = value, value
	for _, plus := range []float64{0.25, 0.5} {
		rnd := rand.New(rand.NewPCG(1947, 1946))
		draw := func(count float64) float64 { return drawGamma(rnd, float64(count*scale)+plus) }
		draws := make([]float64, 0, posteriorDraws)
		for range posteriorDraws {
			if x, ok := (YesNo{draw(y.TP), draw(y.FP), draw(y.FN), draw(y.TN)}).value(c, float64(n)); ok {
				draws = append(draws, x)
			}
		}
		slices.Sort(draws)
		est.Lo = min(est.Lo, stat.Quantile(draws, (1-level)/2))
		est.Hi = max(est.Hi, stat.Quantile(draws, 1-(1-level)/2))
	}
	est.Method = methodPosterior
	if d.effect() != 1 {
		est.EffectiveN = float64(n) / d.effect()
	}
	return d.mark(est, plusMinusOne)
}

// posteriorDraws is the number of draws for the ends: enough for the third digit.
const posteriorDraws = 4000

// drawGamma draws from the gamma distribution with the given shape by the method of
// Marsaglia and Tsang (2000).
func drawGamma(rnd *rand.Rand, shape float64) float64 {
	d, m := shape-1.0/3, 1.0
	if shape < 1 { // scale down a draw of shape+1
		d, m = d+1, math.Pow(rnd.Float64(), 1/shape)
	}
	c := 1 / (3 * math.Sqrt(d))
	for {
		x := rnd.NormFloat64()
		v := 1 + float64(x*c)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := rnd.Float64()
		// The first condition implies the second, and needs no logarithm.
		if square := float64(x * x); u < 1-float64(0.0331*square*square) || math.Log(u) < float64(0.5*x*x)+float64(d*(1-v+math.Log(v))) {
			return m * d * v
		}
	}
}

// A Confusion compares the yes/no decisions of a judge with those of people: TP are right
// answers it accepted, FP wrong answers it accepted, FN right answers it rejected, and TN
// wrong answers it rejected. Negative counts are treated as 0.
type Confusion struct {
	TP int `json:"tp"`
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add counts one item: the decisions of people and of the judge.
func (c *Confusion) Add(truth, given bool) {
	switch {
	case truth && given:
		c.TP++
	case given:
		c.FP++
	case truth:
		c.FN++
	default:
		c.TN++
	}
}

// N returns the number of items.
func (c Confusion) N() int {
	c = c.counts()
	return c.TP + c.FP + c.FN + c.TN
}

// counts returns c without negative counts.
func (c Confusion) counts() Confusion {
	return Confusion{max(c.TP, 0), max(c.FP, 0), max(c.FN, 0), max(c.TN, 0)}
}

// Accuracy returns the share of items on which the judge agrees with people. All shares of
// a confusion have Wilson's interval.
func (c Confusion) Accuracy(level float64) stat.Estimate {
	c = c.counts()
	return stat.Proportion(c.TP+c.TN, c.N(), level)
}

// JudgeRate returns the share of answers that the judge accepts.
func (c Confusion) JudgeRate(level float64) stat.Estimate {
	c = c.counts()
	return stat.Proportion(c.TP+c.FP, c.N(), level)
}

// Kappa returns Cohen's kappa of the judge and people; see [YesNo.Beyond].
func (c Confusion) Kappa(level float64) stat.Estimate {
	c = c.counts()
	return YesNo{float64(c.TP), float64(c.FP), float64(c.FN), float64(c.TN)}.Beyond(CohenKappa, c.N(), Design{}, level)
}

func share(k, n int) float64 { return float64(k) / float64(n) }
