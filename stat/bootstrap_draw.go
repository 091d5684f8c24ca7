package stat

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// BootstrapMean returns the weighted mean of the values with a bootstrap interval that is
// corrected for bias and skewness (BCa). Nil weights are equal; a value with a missing or
// invalid weight is left out. The result depends neither on the order of the values nor on
// the number of processors. Memory grows with the draws by one number each.
//
// Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter
// 14. It is too narrow for few values: with 20 normal values, an interval at 0.95 contains
// the truth in about 0.93 of cases.
func BootstrapMean(values, weights []float64, r Resampling) Estimate {
	level, warning := r.level()
	var m Moments
	type value struct{ x, w float64 }
	list := make([]value, 0, len(values))
	for i, v := range values {
		weight := 1.0
		if weights != nil {
			weight = 0
			if i < len(weights) {
				weight = weights[i]
			}
		}
		before := m.N()
		if m.Add(v, weight); m.N() > before {
			list = append(list, value{v, weight})
		}
	}
	slices.SortFunc(list, func(a, b value) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.w, b.w)) })
	x, w := make([]float64, len(list)), make([]float64, len(list))
	for i, v := range list {
		x[i], w[i] = v.x, v.w
	}
	if !m.weighted() {
		w = nil
	}
	var means []float64
	if m.N() > 1 && m.Variance() > 0 {
		means = replicate(r.draws(), r.Seed, meanDrawer(x, w))
	}
	est := resampled(m, m.Mean(), means, level, methodBCa, skewness(x, w, m.Mean()))
	return warnIf(est, warning)
}

// meanDrawer returns a function that draws the mean of a resample of sorted values. Nil
// weights are equal.
func meanDrawer(x, w []float64) func(*rand.PCG) float64 {
	n := uint64(len(x))
	if w != nil {
		return func(rng *rand.PCG) float64 {
			above, below := 0.0, 0.0
			for range x {
				i := below64(rng, n)
				above += float64(w[i] * x[i]) // not fused; see Wilson
				below += w[i]
			}
			return above / below
		}
	}
	if at, two := slices.BinarySearch(x, x[len(x)-1]); two && x[at-1] == x[0] {
		return twoValueDrawer(x, at)
	}
	return func(rng *rand.PCG) float64 {
		total := 0.0
		for range x {
			total += x[below64(rng, n)]
		}
		return total / float64(n)
	}
}

// twoValueDrawer returns a drawer for two distinct values, such as verdicts of yes and no;
// the larger value begins at index at. The number of larger values in a resample is
// binomial, so one uniform number is enough.
func twoValueDrawer(x []float64, at int) func(*rand.PCG) float64 {
	n := len(x)
	small, large := x[0], x[n-1]
	p := float64(n-at) / float64(n)
	// Outside of this range, the probability is below 1e-16.
	mean := float64(n) * p
	reach := 9*math.Sqrt(mean*(1-p)) + 40
	lo, hi := max(0, int(mean-reach)), min(n, int(mean+reach)+1)
	cumulated := make([]float64, hi-lo+1)
	total := 0.0
	for i := range cumulated {
		total += binomialMass(lo+i, n, p)
		cumulated[i] = total
	}
	return func(rng *rand.PCG) float64 {
		u := float64(rng.Uint64()>>11) / (1 << 53) * total
		i, _ := slices.BinarySearch(cumulated, u)
		k := float64(lo + min(i, len(cumulated)-1))
		return (float64(k*large) + float64((float64(n)-k)*small)) / float64(n)
	}
}

// replicate returns the results of calling draw draws times. Each draw has its own
// generator, seeded by its number, so the result does not depend on which processor made
// which draw. All goroutines have ended when it returns.
func replicate(draws int, seed uint64, draw func(*rand.PCG) float64) []float64 {
	results := make([]float64, draws)
	workers := min(runtime.GOMAXPROCS(0), draws)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			var rng rand.PCG
			for i := worker; i < draws; i += workers {
				// Both halves are mixed, so that neighbouring draws and neighbouring seeds
				// begin far apart.
				rng.Seed(mix(seed^mix(uint64(i))), mix(uint64(i)+0x9e3779b97f4a7c15))
				results[i] = draw(&rng)
			}
		})
	}
	wg.Wait()
	return results
}

// mix scatters the bits of x (the finalizer of SplitMix64; Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below64 returns a uniform number below n (D. Lemire, "Fast random integer
// generation in an interval", ACM TOMACS 29, 2019).
func below64(rng *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(rng.Uint64(), n)
	if lo < n {
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(rng.Uint64(), n)
		}
	}
	return hi
}
