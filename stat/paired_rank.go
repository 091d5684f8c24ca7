package stat

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// What [Wilcoxon] does with pairs that do not differ.
const (
	ZerosDrop  = "wilcox" // leave them out, as Wilcoxon did
	ZerosPratt = "pratt"  // rank them, then leave them out
	ZerosSplit = "zsplit" // rank them, and count half of them up and half down
)

// How [Wilcoxon] gets its p-value.
const (
	WilcoxonAuto   = "auto"
	WilcoxonExact  = "exact"
	WilcoxonApprox = "approx"
)

// WilcoxonOptions say how to test. The zero value means two-sided, pairs that do
// not differ left out, no correction, and the exact distribution for up to 50
// pairs.
type WilcoxonOptions struct {
	Zeros       string      // one of the Zeros constants; "" means ZerosDrop
	Correction  bool        // correct the normal approximation for continuity
	Alternative Alternative // of x-y; "" means two-sided
	Method      string      // one of the Wilcoxon constants; "" means WilcoxonAuto

	// Untied makes the exact method take tied differences for untied ones and
	// cut the rank sum to a whole number, as SciPy 1.10 does. Otherwise the exact
	// method goes by the ranks as they are tied, which is what the signs could
	// really have given.
	Untied bool
}

// exactPairs is up to how many pairs the automatic choice is the exact one, and
// maxExactPairs up to how many it can be had at all: the time grows with the cube
// of the pairs, and the approximation is good long before.
const (
	exactPairs    = 50
	maxExactPairs = 1000
)

// Wilcoxon returns the signed-rank test of whether x-y is symmetric about 0. The
// statistic is the rank sum of the positive differences or, two-sided, the smaller
// of both rank sums. Differences of 0 rule the exact method out, as more than 1,000
// pairs do, and the normal approximation takes its place. It is an error if no pair differs, unless zeros
// are split.
//
// Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics
// Bulletin 1 (1945), 80-83; J. W. Pratt, JASA 54 (1959), 655-667; E. E. Cureton,
// JASA 62 (1967), 1068-1069. It follows SciPy 1.10. The approximation holds from
// some ten differences on.
func Wilcoxon(x, y []float64, o WilcoxonOptions) (Test, error) {
	if len(x) != len(y) {
		return Test{}, errLengths
	}
	w, err := newSignedRanks(differences(x, y), o)
	if err != nil {
		return Test{}, err
	}
	test := Test{Statistic: w.plus, Method: "wilcoxon-exact", N: len(w.ranks), Warnings: w.warnings}
	if o.Alternative != Less && o.Alternative != Greater {
		test.Statistic = math.Min(w.plus, w.minus)
	}
	if w.approx {
		test.Method = "wilcoxon-approx"
		test.P = w.approxP(test.Statistic, o)
	} else {
		test.P = w.exactP(o)
	}
	test.P = Unit.clip(test.P)
	return test, nil
}

// signedRanks are the ranks of differences by size, and their sums by sign.
type signedRanks struct {
	ranks       []float64
	plus, minus float64
	zeros       int
	ties        float64 // the sum of t³-t over the groups of t tied ranks
	approx      bool
	warnings    []string
}

// newSignedRanks ranks the differences. Those that are not numbers are left out.
func newSignedRanks(d []float64, o WilcoxonOptions) (signedRanks, error) {
	finite := slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x-x != 0 })
	var w signedRanks
	if len(finite) < len(d) {
		w.warnings = append(w.warnings, WarnSkipped)
	}
	if len(finite) == 0 {
		return w, errors.New("there is no pair to test")
	}
	for _, x := range finite {
		w.zeros += boolToInt(x == 0)
	}
	auto := o.Method == "" || o.Method == WilcoxonAuto
	w.approx = w.zeros > 0 || o.Method == WilcoxonApprox || auto && len(finite) > exactPairs
	if !w.approx && len(finite) > maxExactPairs {
		w.approx = true
		w.warnings = append(w.warnings, WarnManyPairs)
	}
	if w.zeros == len(finite) && o.Zeros != ZerosSplit {
		return w, errors.New("no pair differs, so there is nothing to rank")
	}
	if o.Zeros == "" || o.Zeros == ZerosDrop {
		finite = slices.DeleteFunc(finite, func(x float64) bool { return x == 0 })
	}
	w.rank(finite, o.Zeros)
	if w.approx && len(finite) < 10 {
		w.warnings = append(w.warnings, WarnSmallApprox)
	}
	return w, nil
}

// rank fills in ranks and their sums.
func (w *signedRanks) rank(d []float64, zeros string) {
	sizes := make([]float64, len(d))
	for i, x := range d {
		sizes[i] = math.Abs(x)
	}
	w.ranks = midRanks(sizes)
	counts := map[float64]float64{}
	for i, r := range w.ranks {
		switch {
		case d[i] > 0:
			w.plus += r
		case d[i] < 0:
			w.minus += r
		case zeros == ZerosSplit:
			w.plus += r / 2
			w.minus += r / 2
		}
		if d[i] != 0 || zeros != ZerosPratt {
			counts[r]++
		}
	}
	for _, t := range counts {
		w.ties += t*t*t - t // whole numbers, so their order does not matter
	}
}

// approxP returns the p-value by the normal distribution.
func (w *signedRanks) approxP(statistic float64, o WilcoxonOptions) float64 {
	n := float64(len(w.ranks))
	mean := n * (n + 1) / 4
	variance := n * (n + 1) * (2*n + 1)
	if o.Zeros == ZerosPratt {
		z := float64(w.zeros)
		mean -= z * (z + 1) / 4
		variance -= z * (z + 1) * (2*z + 1)
	}
	sd := math.Sqrt((variance - w.ties/2) / 24)
	if !(sd > 0) {
		return 1
	}
	z := (statistic - mean - w.correction(statistic-mean, o)) / sd
	switch o.Alternative {
	case Less:
		return normalTail(-z)
	case Greater:
		return normalTail(z)
	}
	return 2 * normalTail(math.Abs(z))
}

// correction returns by how much continuity moves the statistic.
func (w *signedRanks) correction(deviation float64, o WilcoxonOptions) float64 {
	switch {
	case !o.Correction:
		return 0
	case o.Alternative == Less:
		return -0.5
	case o.Alternative == Greater:
		return 0.5
	case deviation == 0:
		return 0
	}
	return math.Copysign(0.5, deviation)
}

// exactP returns the p-value by counting the signs that the ranks could have had.
// Tied ranks end in a half, so everything is counted in halves.
func (w *signedRanks) exactP(o WilcoxonOptions) float64 {
	doubled := make([]int, len(w.ranks))
	for i, r := range w.ranks {
		doubled[i] = int(2 * r)
		if o.Untied {
			doubled[i] = 2 * (i + 1)
		}
	}
	at := int(2 * w.plus)
	if o.Untied {
		at = 2 * int(w.plus)
	}
	chance := subsetSums(doubled)
	less, greater := sum(chance[:at+1]), sum(chance[at:])
	switch o.Alternative {
	case Less:
		return less
	case Greater:
		return greater
	}
	return 2 * math.Min(less, greater)
}

// subsetSums returns, for each sum, the chance that it is the sum of the numbers
// that fair coins choose.
func subsetSums(numbers []int) []float64 {
	total := 0
	for _, x := range numbers {
		total += x
	}
	chance := make([]float64, total+1)
	chance[0] = 1
	reached := 0
	for _, x := range numbers {
		reached += x
		for s := reached; s >= 0; s-- {
			with := 0.0
			if s >= x {
				with = chance[s-x]
			}
			chance[s] = (chance[s] + with) / 2
		}
	}
	return chance
}

func sum(values []float64) float64 {
	total := 0.0
	for _, x := range values {
		total += x
	}
	return total
}

// midRanks returns the rank of each value from 1 on; tied values share the mean of
// their ranks.
func midRanks(values []float64) []float64 {
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

// Up to exactSmall values in one of two lists, without ties, Mann and Whitney's
// statistic gets its exact distribution, unless there are more than exactStates
// values of it.
const (
	exactSmall  = 8
	exactStates = 10_000
)

// MannWhitney returns the two-sided test of whether values of x tend to be larger
// or smaller than those of y. The statistic counts the pairs in which the value of
// x is the larger one, ties as a half. Small lists without ties get the exact
// distribution, others the normal approximation with corrections for ties and
// continuity, as in SciPy 1.10; where that would count beyond 10,000 values of the
// statistic, the approximation is taken, which is then good to several digits.
//
// Source: H. B. Mann and D. R. Whitney, "On a test of whether one of two random
// variables is stochastically larger than the other", Annals of Mathematical
// Statistics 18 (1947), 50-60.
func MannWhitney(x, y []float64) Test {
	notFinite := func(v float64) bool { return v-v != 0 }
	a, b := slices.DeleteFunc(slices.Clone(x), notFinite), slices.DeleteFunc(slices.Clone(y), notFinite)
	test := Test{P: 1, Method: "mann-whitney-approx", N: len(a) + len(b)}
	if test.N < len(x)+len(y) {
		test = test.Warn(WarnSkipped)
	}
	if len(a) == 0 || len(b) == 0 {
		return test.Warn(WarnTooFew)
	}
	ranks := midRanks(slices.Concat(a, b))
	m, n := float64(len(a)), float64(len(b))
	u := sum(ranks[:len(a)]) - m*(m+1)/2
	ties := tieTerm(ranks)
	test.Statistic = u
	larger := math.Max(u, m*n-u)
	if ties == 0 && min(len(a), len(b)) <= exactSmall && len(a)*len(b) <= exactStates {
		test.Method = "mann-whitney-exact"
		test.P = math.Min(1, 2*rankSumTail(len(a), len(b), int(m*n-larger)))
		return test
	}
	all := m + n
	sd := math.Sqrt(m * n / 12 * (all + 1 - ties/(all*(all-1))))
	if !(sd > 0) {
		return test.Warn(WarnNoSpreadTest)
	}
	test.P = Unit.clip(2 * normalTail((larger-m*n/2-0.5)/sd))
	return test
}

// tieTerm returns the sum of t³-t over the groups of t tied ranks.
func tieTerm(ranks []float64) float64 {
	counts := map[float64]float64{}
	for _, r := range ranks {
		counts[r]++
	}
	term := 0.0
	for _, t := range counts {
		term += t*t*t - t
	}
	return term
}

// rankSumTail returns the chance that Mann and Whitney's statistic of m and n
// values is at most u. It fills a table by Mann and Whitney's recursion: the largest
// value of all belongs to the first list with chance m/(m+n), and then exceeds the
// n others.
func rankSumTail(m, n, u int) float64 {
	if m > n {
		m, n = n, m
	}
	// chance[i][s] is for i values beside j, where j runs outside.
	chance := make([][]float64, m+1)
	for i := range chance {
		chance[i] = make([]float64, u+1)
		chance[i][0] = 1 // no value in the second list
	}
	for j := 1; j <= n; j++ {
		for i := 1; i <= m; i++ {
			first := float64(i) / float64(i+j)
			for s := u; s >= 0; s-- {
				v := (1 - first) * chance[i][s]
				if s >= j {
					v += first * chance[i-1][s-j]
				}
				chance[i][s] = v
			}
		}
	}
	return sum(chance[m])
}
