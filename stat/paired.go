package stat

import (
	"math"
	"slices"
	"sort"
)

// A Test is what a significance test found.
type Test struct {
	// Statistic is the number that the test is made of; its method says which.
	Statistic float64 `json:"statistic"`

	// P is the chance of a statistic at least as extreme when there is no
	// difference, between 0 and 1.
	P float64 `json:"p"`

	// Method names the test, as "mcnemar-exact".
	Method string `json:"method"`

	// N is how many values or pairs the test stands on.
	N int `json:"n"`

	// Warnings say in plain words what to beware of.
	Warnings []string `json:"warnings,omitempty"`
}

// warn returns a copy of the test with one more warning, unless it carries that
// warning already.
func (t Test) warn(warning string) Test {
	if !slices.Contains(t.Warnings, warning) {
		t.Warnings = append(t.Warnings[:len(t.Warnings):len(t.Warnings)], warning)
	}
	return t
}

// The warnings of tests.
const (
	warnNoDifference = "no pair differs, so there is nothing to test: p is 1"
	warnTooFew       = "too few values for this test: p is 1"
	warnNoSpreadTest = "all values are equal, so their spread is unknown and the test is not defined: p is 1"
	warnNegative     = "a negative count was given: it was taken for 0"
)

// An alternative says which deviations count as extreme.
type alternative string

// The alternatives. The empty one is two-sided.
const (
	twoSided alternative = "two-sided"
	less     alternative = "less"
	greater  alternative = "greater"
)

// binomialTest returns the p-value of k hits in n tries when each hits with chance
// p. Two-sided, it adds up the chances of everything that is no more likely than
// k. The test is exact. Counts out of range are moved into it, as is p, and a p
// that is NaN counts as one half; without tries the p-value is 1.
//
// Source: C. J. Clopper and E. S. Pearson (1934); the two-sided rule is that of R
// and SciPy, among them the tolerance of 1e-7 for chances that only rounding tells
// apart.
func binomialTest(k, n int, p float64, alt alternative) float64 {
	if n <= 0 {
		return 1
	}
	k = min(max(k, 0), n)
	if shrink := mostTries / float64(n); shrink < 1 {
		k, n = int(math.Round(float64(k)*shrink)), int(mostTries)
	}
	if math.IsNaN(p) {
		p = 0.5
	}
	p = Unit.Clip(p)
	switch alt {
	case less:
		return Unit.Clip(atMost(k, n, p))
	case greater:
		return Unit.Clip(atLeast(k, n, p))
	}
	mean := float64(n) * p
	limit := binomialMass(k, n, p) * (1 + 1e-7)
	switch {
	case float64(k) == mean:
		return 1
	case float64(k) < mean:
		// The first count above the mean that is no more likely than k.
		first := firstFrom(int(math.Ceil(mean)), n+1, func(i int) bool { return binomialMass(i, n, p) <= limit })
		return Unit.Clip(atMost(k, n, p) + atLeast(first, n, p))
	}
	// The last count below the mean that is no more likely than k.
	first := firstFrom(0, int(math.Floor(mean))+1, func(i int) bool { return binomialMass(i, n, p) > limit })
	return Unit.Clip(atMost(first-1, n, p) + atLeast(k, n, p))
}

// firstFrom returns the smallest i in [lo, hi) for which ok holds, and hi if there
// is none; ok must hold from some i on.
func firstFrom(lo, hi int, ok func(int) bool) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return ok(lo + i) })
}

// McNemar returns the exact two-sided test of whether two judges, or one judge on
// two systems, say yes equally often on the same items. b items got yes from the
// first only and c from the second only; items on which both say the same do not
// count. The statistic is the smaller of the two. N is b+c.
//
// Source: Q. McNemar, "Note on the sampling error of the difference between
// correlated proportions", Psychometrika 12 (1947), 153-157, with the binomial
// distribution of b given b+c. It is exact for independent pairs, and conservative
// when few pairs differ.
func McNemar(b, c int) Test {
	// Half of the largest count still can be added to itself.
	x, y := min(max(b, 0), math.MaxInt/2), min(max(c, 0), math.MaxInt/2)
	test := Test{P: 1, Method: "mcnemar-exact", N: x + y}
	if x+y == 0 {
		test = test.warn(warnNoDifference)
	} else {
		small := min(x, y)
		test.Statistic, test.P = float64(small), math.Min(1, 2*binomialTest(small, x+y, 0.5, less))
	}
	if b < 0 || c < 0 {
		test = test.warn(warnNegative)
	}
	return test
}

// A Stratum is two shares of different items that are compared: K1 of N1 and K2 of N2.
type Stratum struct{ K1, N1, K2, N2 int }

// FisherExact returns the two-sided test of whether two shares that were measured on
// different items are equal, within each of several strata if there are several, as within
// clusters. It adds up the chances of every table with the same margins that is no more
// likely; with several strata, of every sum of hits on the first side. The statistic is the
// difference of the shares, or that sum less what is expected of it. N is the number of
// items. Counts out of range are moved into it. Where counts in strata are so large that the
// tables are too many, it takes the normal distribution.
//
// Source: R. A. Fisher, "The logic of inductive inference", Journal of the Royal
// Statistical Society 98 (1935), 39-82; the two-sided rule is that of R and SciPy. It is
// exact from one item on either side, and conservative. For strata, D. R. Cox, Analysis of
// Binary Data (1970), section 4.2, and the normal distribution is that of W. G. Cochran
// (1954) and of N. Mantel and W. Haenszel (1959). It is exact when the items of a stratum are
// exchangeable.
func FisherExact(strata ...Stratum) Test {
	test := Test{P: 1, Method: "fisher-exact"}
	var usable []Stratum
	for _, s := range strata {
		in := Stratum{N1: max(s.N1, 0), N2: max(s.N2, 0)}
		in.K1, in.K2 = min(max(s.K1, 0), in.N1), min(max(s.K2, 0), in.N2)
		if in != s {
			test = test.warn(warnRange)
		}
		if in.N1 > 0 && in.N2 > 0 {
			usable = append(usable, in)
			test.N += in.N1 + in.N2
		}
	}
	switch len(usable) {
	case 0:
		return test.warn(warnTooFew)
	case 1:
		s := usable[0]
		test.Statistic = float64(s.K1)/float64(s.N1) - float64(s.K2)/float64(s.N2)
		hits := s.K1 + s.K2
		first, last := s.ends()
		// Chances that only rounding tells apart are equal, as in binomialTest.
		limit := logTable(s.K1, s.N1, hits, s.N2) + 1e-7
		rare := func(i int) bool { return logTable(i, s.N1, hits, s.N2) <= limit }
		// The chances rise to one peak and fall again, so the tables that are no more likely
		// lie at both ends.
		peak := int((float64(s.N1) + 1) * (float64(hits) + 1) / (float64(s.N1) + float64(s.N2) + 2))
		peak = min(max(peak, first), last)
		low := firstFrom(first, peak, func(i int) bool { return !rare(i) })
		high := firstFrom(peak, last+1, rare)
		test.P = Unit.Clip(tableTail(low-1, first, -1, s.N1, hits, s.N2) + tableTail(max(high, low), last, 1, s.N1, hits, s.N2))
	default:
		test.Method = "stratified-exact"
		test.Statistic, test.P = stratified(usable)
	}
	return test
}

// tableTail adds up the chances of the tables from one on to the last, until what follows
// changes nothing.
func tableTail(from, to, step, a, hits, b int) float64 {
	sum := 0.0
	for i := from; (to-i)*step >= 0; i += step {
		chance := math.Exp(logTable(i, a, hits, b))
		sum += chance
		if chance < 1e-18*sum {
			break
		}
	}
	return sum
}

// maxStrata is how many tables the exact test over strata may add up. Beyond that,
// counts are so large that no exact test is needed.
const maxStrata = 4096

// stratified returns the statistic and the p-value of several strata.
func stratified(strata []Stratum) (statistic, p float64) {
	var variance float64
	tables, first, observed := 1, 0, 0
	for _, s := range strata {
		a, b, hits := float64(s.N1), float64(s.N2), float64(s.K1+s.K2)
		statistic += float64(s.K1) - a*hits/(a+b)
		variance += a * b * hits * (a + b - hits) / ((a + b) * (a + b) * (a + b - 1))
		low, high := s.ends()
		tables, first, observed = tables+high-low, first+low, observed+s.K1
	}
	if tables > maxStrata {
		return statistic, math.Erfc(math.Abs(statistic) / math.Sqrt(2*variance))
	}
	chances := []float64{1} // of sums of hits
	for _, s := range strata {
		low, high := s.ends()
		sums := make([]float64, len(chances)+high-low)
		for i := low; i <= high; i++ {
			chance := math.Exp(logTable(i, s.N1, s.K1+s.K2, s.N2))
			for j, c := range chances {
				sums[j+i-low] += chance * c
			}
		}
		chances = sums
	}
	limit := chances[observed-first] * (1 + 1e-7)
	for _, chance := range chances {
		if chance <= limit {
			p += chance
		}
	}
	return statistic, Unit.Clip(p)
}

// ends returns the fewest and the most hits on the first side that the margins allow.
func (s Stratum) ends() (low, high int) { return max(0, s.K1+s.K2-s.N2), min(s.N1, s.K1+s.K2) }

// logTable returns the logarithm of the chance that x of a given number of hits fall
// among a items and the others among b.
func logTable(x, a, hits, b int) float64 {
	return logChoose(a, x) + logChoose(b, hits-x) - logChoose(a+b, hits)
}

// logChoose returns the logarithm of how many ways there are to choose k of n.
func logChoose(n, k int) float64 {
	lgamma := func(i int) float64 {
		l, _ := math.Lgamma(float64(i) + 1)
		return l
	}
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}

// WelchTest returns the two-sided test of whether the means of two independent
// lists of values are equal, without assuming that their spreads are. The statistic
// is t. N is how many values there are in both.
//
// Source: B. L. Welch, "The generalization of 'Student's' problem when several
// different population variances are involved", Biometrika 34 (1947), 28-35, with
// Satterthwaite's degrees of freedom.
func WelchTest(x, y []float64) Test {
	a, b := momentsOf(x), momentsOf(y)
	test := Test{P: 1, Method: "welch", N: a.N() + b.N()}
	if a.skipped+b.skipped > 0 {
		test = test.warn(warnSkipped)
	}
	if a.N() < 2 || b.N() < 2 {
		return test.warn(warnTooFew)
	}
	va, vb := a.Variance()/float64(a.N()), b.Variance()/float64(b.N())
	se := math.Sqrt(va + vb)
	t := (a.Mean() - b.Mean()) / se
	if !(se > 0) || t-t != 0 {
		return test.warn(warnNoSpreadTest)
	}
	// Shares are used instead of variances, whose squares may underflow.
	sa, sb := va/(va+vb), vb/(va+vb)
	df := 1 / (sa*sa/float64(a.N()-1) + sb*sb/float64(b.N()-1))
	test.Statistic, test.P = t, Unit.Clip(StudentTail(t, df))
	return test
}

// momentsOf returns the moments of equally weighted values.
func momentsOf(values []float64) Moments {
	var m Moments
	for _, x := range values {
		m.Add(x, 1)
	}
	return m
}
