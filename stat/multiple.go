package stat

import (
	"cmp"
	"math"
	"slices"
)

// If twenty categories are tested, one of them is likely to look significant at 0.05 by
// chance. These functions adjust p-values for their number: an adjusted p-value is compared
// with 0.05 like a single one. Each returns them in the order of p. A p-value above 1 or
// NaN counts as 1, and one below 0 as 0.

// Bonferroni multiplies each p-value by their number. The probability of any false positive
// is at most alpha, however the tests depend on each other.
//
// Source: O. J. Dunn, "Multiple comparisons among means", JASA 56 (1961), 52-64. [Holm]
// gives the same guarantee and is never weaker.
func Bonferroni(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		for i := range sorted {
			sorted[i] *= float64(len(sorted))
		}
	})
}

// Holm multiplies the smallest p-value by n, the next by n-1, and so on. The probability of
// any false positive is at most alpha, however the tests depend on each other. Reports use
// it for categories.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
// Journal of Statistics 6 (1979), 65-70.
func Holm(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		largest := 0.0
		for i, x := range sorted {
			largest = math.Max(largest, x*float64(len(sorted)-i))
			sorted[i] = largest
		}
	})
}

// adjust returns the p-values after f changed a sorted copy of them, in their original
// order and at most 1.
func adjust(p []float64, f func(sorted []float64)) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	usable := make([]float64, len(p))
	for i, x := range p {
		usable[i] = Unit.Clip(x)
		if math.IsNaN(x) {
			usable[i] = 1
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(usable[i], usable[j]) })
	sorted := make([]float64, len(p))
	for at, i := range order {
		sorted[at] = usable[i]
	}
	f(sorted)
	adjusted := make([]float64, len(p))
	for at, i := range order {
		adjusted[i] = Unit.Clip(sorted[at])
	}
	return adjusted
}
