package agreement

import (
	"cmp"
	"math"
	"slices"
)

// orders counts how two lists order the same pairs of items.
type orders struct {
	n          float64 // items
	pairs      float64 // pairs of items
	discordant float64 // pairs ordered differently
	score      float64 // pairs ordered alike less those ordered differently
	x, y       ties
}

// ties are sums over the groups of equal values in a list.
type ties struct {
	pairs, triples, spread float64 // sums of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5)
}

// concordance counts the orders of two lists in n·log n steps (Knight 1966): the
// items are sorted by x, and the number of exchanges needed to sort them by y is the
// number of pairs ordered differently.
func concordance(x, y []float64) orders {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b]))
	})
	byX := make([]float64, n)
	both := ties{}
	for i, run := 0, 1; i < n; i++ {
		byX[i] = y[order[i]]
		if i+1 < n && x[order[i]] == x[order[i+1]] && y[order[i]] == y[order[i+1]] {
			run++
			continue
		}
		both.add(run)
		run = 1
	}
	o := orders{n: float64(n), pairs: float64(n) * float64(n-1) / 2, x: tiesOf(x), y: tiesOf(y)}
	o.discordant = float64(inversions(byX, make([]float64, n)))
	o.score = o.pairs - o.x.pairs - o.y.pairs + both.pairs - 2*o.discordant
	return o
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

func tiesOf(x []float64) ties {
	sorted := slices.Sorted(slices.Values(x))
	var t ties
	for i, run := 0, 1; i < len(sorted); i++ {
		if i+1 < len(sorted) && sorted[i] == sorted[i+1] {
			run++
			continue
		}
		t.add(run)
		run = 1
	}
	return t
}

// add adds a group of equal values of the given size.
func (t *ties) add(times int) {
	n := float64(times)
	t.pairs += n * (n - 1) / 2
	t.triples += n * (n - 1) * (n - 2)
	t.spread += n * (n - 1) * (2*n + 5)
}

func (o orders) tauB() float64 {
	tau := o.score / math.Sqrt(o.pairs-o.x.pairs) / math.Sqrt(o.pairs-o.y.pairs)
	return max(-1, min(tau, 1))
}

// p returns the two-sided p-value.
func (o orders) p() float64 {
	untied := o.x.pairs == 0 && o.y.pairs == 0
	if untied && (o.n <= 33 || min(o.discordant, o.pairs-o.discordant) <= 1) {
		return kendallExact(int(o.n), int(min(o.discordant, o.pairs-o.discordant)))
	}
	m := o.n * (o.n - 1)
	variance := (m*(2*o.n+5)-o.x.spread-o.y.spread)/18 +
		2*o.x.pairs*o.y.pairs/m +
		o.x.triples*o.y.triples/(9*m*(o.n-2))
	return math.Erfc(math.Abs(o.score) / math.Sqrt(variance) / math.Sqrt2)
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
