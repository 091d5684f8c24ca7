package stat

import (
	"cmp"
	"math"
	"slices"
)

// When twenty categories are tested, one of them will look significant at 0.05 by
// chance. The functions here adjust p-values for how many there are: an adjusted
// p-value is compared with the same 0.05 as if it were alone. Each returns them in
// the order of p. A p-value above 1, or that is NaN, counts as 1 and one below 0 as
// 0.

// Bonferroni multiplies each p-value by their number. The chance of one false alarm
// or more is at most alpha, however the tests depend on each other.
//
// Source: O. J. Dunn, "Multiple comparisons among means", JASA 56 (1961), 52-64.
// [Holm] promises the same and is never weaker.
func Bonferroni(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		for i := range sorted {
			sorted[i] *= float64(len(sorted))
		}
	})
}

// Sidak returns 1-(1-p)^n for each of n p-values. The chance of one false alarm or
// more is at most alpha for independent tests.
//
// Source: Z. Šidák, "Rectangular confidence regions for the means of multivariate
// normal distributions", JASA 62 (1967), 626-633.
func Sidak(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		for i, x := range sorted {
			sorted[i] = -math.Expm1(float64(len(sorted)) * math.Log1p(-x))
		}
	})
}

// Holm multiplies the smallest p-value by n, the next by n-1, and so on. The chance
// of one false alarm or more is at most alpha, however the tests depend on each
// other. It is what a report over categories uses.
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6 (1979), 65-70.
func Holm(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		largest := 0.0
		for i, x := range sorted {
			largest = math.Max(largest, x*float64(len(sorted)-i))
			sorted[i] = largest
		}
	})
}

// Hommel is Simes's test of every set of hypotheses at once. It is at least as
// strong as [Holm]; the chance of one false alarm or more is at most alpha when the
// tests are independent or positively dependent.
//
// Source: G. Hommel, "A stagewise rejective multiple test procedure based on a
// modified Bonferroni test", Biometrika 75 (1988), 383-386. The time grows with the
// square of the number of p-values.
func Hommel(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		adjusted := slices.Clone(sorted)
		n := len(sorted)
		for m := n; m > 1; m-- {
			simes := math.Inf(1)
			for j, x := range sorted[n-m:] {
				simes = math.Min(simes, float64(m)*x/float64(j+1))
			}
			for i, x := range sorted {
				if i < n-m {
					adjusted[i] = math.Max(adjusted[i], math.Min(float64(m)*x, simes))
				} else {
					adjusted[i] = math.Max(adjusted[i], simes)
				}
			}
		}
		copy(sorted, adjusted)
	})
}

// BenjaminiHochberg adjusts for the share of false alarms among all alarms, which
// is at most alpha on average when the tests are independent or positively
// dependent.
//
// Source: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate",
// Journal of the Royal Statistical Society B 57 (1995), 289-300.
func BenjaminiHochberg(p []float64) []float64 {
	return adjust(p, func(sorted []float64) { stepUp(sorted, 1) })
}

// BenjaminiYekutieli does the same for tests that depend on each other in any way,
// and is weaker for it.
//
// Source: Y. Benjamini and D. Yekutieli, "The control of the false discovery rate
// in multiple testing under dependency", Annals of Statistics 29 (2001), 1165-1188.
func BenjaminiYekutieli(p []float64) []float64 {
	return adjust(p, func(sorted []float64) {
		harmonic := 0.0
		for i := range sorted {
			harmonic += 1 / float64(i+1)
		}
		stepUp(sorted, harmonic)
	})
}

// stepUp multiplies the i-th smallest p-value by factor·n/i, and takes the smallest
// of what the larger ones gave.
func stepUp(sorted []float64, factor float64) {
	n := float64(len(sorted))
	smallest := 1.0
	for i, x := range slices.Backward(sorted) {
		smallest = math.Min(smallest, x/(float64(i+1)/n/factor))
		sorted[i] = smallest
	}
}

// adjust returns the p-values after f changed a sorted copy of them, in their own
// order and no larger than 1.
func adjust(p []float64, f func(sorted []float64)) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	usable := make([]float64, len(p))
	for i, x := range p {
		usable[i] = Unit.clip(x)
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
		adjusted[i] = Unit.clip(sorted[at])
	}
	return adjusted
}
