package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// mostTries is the maximum number of tries that are counted one by one: a sum over them
// takes a millisecond. Beyond it only the share of hits counts, and p-values are those of
// mostTries.
const mostTries float64 = 1 << 30

// stirlingError returns ln(n!) minus Stirling's approximation. Up to 15 the logarithm of
// the gamma function is precise enough; beyond that the series is.
func stirlingError(n float64) float64 {
	if n <= 15 {
		lg, _ := math.Lgamma(n + 1)
		return lg - ((n+0.5)*math.Log(n) - n + 0.5*math.Log(2*math.Pi))
	}
	nn := n * n
	return (1.0/12 - (1.0/360-(1.0/1260-(1.0/1680-1.0/1188/nn)/nn)/nn)/nn) / n
}

// deviance returns x·ln(x/m) + m - x without cancellation if x is near m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum, term := (x-m)*v, 2*x*v
	for j := 3.0; ; j += 2 {
		term *= v * v
		next := sum + term/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// binomialMass returns the probability of exactly k hits in n tries with probability p.
//
// Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
// Subtracting logarithms of factorials cancels all but their last digits; Loader subtracts
// nothing large, so that p-values of 1e-300 still have twelve digits.
func binomialMass(k, n int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p <= 0 || p >= 1:
		return float64(boolToInt((p >= 1 && k == n) || (p <= 0 && k == 0)))
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Exp(float64(n) * math.Log(p))
	}
	x, y, all := float64(k), float64(n-k), float64(n)
	lc := stirlingError(all) - stirlingError(x) - stirlingError(y) - deviance(x, all*p) - deviance(y, all*(1-p))
	return math.Exp(lc) * math.Sqrt(all/(2*math.Pi*x*y))
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// atMost returns the probability of at most k hits in n tries with probability p, and
// atLeast that of at least k. Each sums the shorter tail, so that small probabilities keep
// their digits.
func atMost(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	case float64(k) > float64(n)*p:
		return 1 - tail(n-k-1, n, 1-p, p)
	}
	return tail(k, n, p, 1-p)
}

func atLeast(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p <= 0:
		return 0
	case p >= 1:
		return 1
	case float64(k) < float64(n)*p:
		return 1 - tail(k-1, n, p, 1-p)
	}
	return tail(n-k, n, 1-p, p)
}

// tail returns the probability of at most k hits, for k at or below the mean; q is 1-p. The
// terms decrease from k downwards, so the sum ends when they no longer matter.
func tail(k, n int, p, q float64) float64 {
	term := binomialMass(k, n, p)
	sum := term
	for i := k; i > 0 && term > sum*1e-18; i-- {
		term *= float64(i) * q / (float64(n-i+1) * p)
		sum += term
	}
	return math.Min(sum, 1)
}

// betaQuantile returns the p-quantile of the beta distribution with parameters a and b.
func betaQuantile(p, a, b float64) float64 {
	switch {
	case a <= 0:
		return 0
	case b <= 0:
		return 1
	}
	x := mathext.InvRegIncBeta(a, b, p)
	logBeta := mathext.Lbeta(a, b)
	// The inverse is imprecise; two Newton steps give the missing digits.
	for range 2 {
		if !(x > 0 && x < 1) {
			break
		}
		density := math.Exp((a-1)*math.Log(x) + (b-1)*math.Log1p(-x) - logBeta)
		next := x - (mathext.RegIncBeta(a, b, x)-p)/density
		if !(next > 0 && next < 1) {
			break
		}
		x = next
	}
	return x
}

// StudentTail returns the share of Student's distribution with df degrees of
// freedom beyond t on both sides.
func StudentTail(t, df float64) float64 {
	tt := t * t
	if math.IsInf(tt, 1) {
		return 0
	}
	// The incomplete beta function loses digits near 1, so it is asked from its
	// other end there.
	if tt < df {
		return 1 - mathext.RegIncBeta(0.5, df/2, tt/(df+tt))
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+tt))
}
