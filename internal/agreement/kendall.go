package agreement

import (
	"cmp"
	"math"
	"slices"
)

// KendallTauB returns Kendall's tau-b of x and y: by how much pairs of items that
// both lists order alike outnumber those they order differently, corrected for
// ties. Errors are those of [Pearson].
//
// Source: M. G. Kendall, Rank Correlation Methods (1970). Without ties, and up to
// 33 pairs or near a perfect order, the p-value is exact, otherwise normal with the
// variance for ties. The interval at level 0.95 is that of E. C. Fieller, H. O.
// Hartley and E. S. Pearson, Biometrika 44 (1957), for values up to 0.8 or so and
// ten pairs.
func KendallTauB(x, y []float64) (Correlation, error) {
	if err := checkPairs(x, y); err != nil {
		return Correlation{}, err
	}
	// Pairs are counted in n·log n steps (Knight 1966): the items are sorted by x, and the
	// number of exchanges needed to sort them by y is the number of pairs ordered
	// differently.
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b]))
	})
	byX := make([]float64, len(x))
	for i, at := range order {
		byX[i] = y[at]
	}
	sortedY := slices.Sorted(slices.Values(y))
	inX := tiesOf(len(x), func(i int) bool { return x[order[i]] == x[order[i+1]] })
	inY := tiesOf(len(y), func(i int) bool { return sortedY[i] == sortedY[i+1] })
	both := tiesOf(len(x), func(i int) bool { return x[order[i]] == x[order[i+1]] && byX[i] == byX[i+1] })
	n := float64(len(x))
	m := n * (n - 1)
	pairs, discordant := m/2, float64(inversions(byX, make([]float64, len(x))))
	score := pairs - inX.pairs - inY.pairs + both.pairs - 2*discordant // those ordered alike less the others
	tau := max(-1, min(score/math.Sqrt(pairs-inX.pairs)/math.Sqrt(pairs-inY.pairs), 1))
	if len(x) == 2 {
		return Correlation{noInterval(tau, 2).Warn(warnTwoPairs), 1}, nil
	}
	est := zInterval(tau, len(x), 0.437, 4, "fieller")
	fewest := min(discordant, pairs-discordant)
	if inX.pairs == 0 && inY.pairs == 0 && (n <= 33 || fewest <= 1) {
		return Correlation{est, kendallExact(len(x), int(fewest))}, nil
	}
	variance := (m*(2*n+5)-inX.spread-inY.spread)/18 +
		2*inX.pairs*inY.pairs/m +
		inX.triples*inY.triples/(9*m*(n-2))
	return Correlation{est, math.Erfc(math.Abs(score) / math.Sqrt(variance) / math.Sqrt2)}, nil
}

// ties are sums over the groups of equal values in a list.
type ties struct {
	pairs, triples, spread float64 // sums of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5)
}

// inversions sorts a and returns how many pairs were in the wrong order.
func inversions(a, spare []float64) int {
	if len(a) < 2 {
		return 0
	}
	mid := len(a) / 2
	count := inversions(a[:mid], spare[:mid]) + inversions(a[mid:], spare[mid:])
	i, j := 0, mid
	for k := range spare {
		if j == len(a) || i < mid && a[i] <= a[j] {
			spare[k] = a[i]
			i++
			continue
		}
		spare[k] = a[j]
		j++
		count += mid - i
	}
	copy(a, spare)
	return count
}

// tiesOf returns the sums over the groups of equal values among n values in order, where
// same says that a value equals the next one.
func tiesOf(n int, same func(i int) bool) ties {
	var t ties
	for i, run := 0, 1.0; i < n; i++ {
		if i+1 < n && same(i) {
			run++
			continue
		}
		t.pairs += run * (run - 1) / 2
		t.triples += run * (run - 1) * (run - 2)
		t.spread += run * (run - 1) * (2*run + 5)
		run = 1
	}
	return t
}

// kendallExact returns twice the share of the permutations of n items that have at most
// c inversions, where c is at most half of all pairs. The shares of the
// permutations with each number of inversions are built item by item: a new last
// item makes 0 to j-1 inversions, each equally likely.
func kendallExact(n, c int) float64 {
	if 4*c == n*(n-1) {
		return 1
	}
	shares := make([]float64, c+1)
	shares[0] = 1
	for j := 2; j <= n; j++ {
		for i := c; i > 0; i-- {
			for k := max(i-j+1, 0); k < i; k++ {
				shares[i] += shares[k]
			}
		}
		for i := range shares {
			shares[i] /= float64(j)
		}
	}
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	return min(2*sum, 1)
}
