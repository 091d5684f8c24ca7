package stat

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// defaultPermutations is how many sign patterns a permutation test draws when it
// cannot go through all of them and nobody asks for another number.
const defaultPermutations = 9999

const (
	// maxEnumerated is up to how many differences all 2^n sign patterns are gone
	// through.
	maxEnumerated = 20

	// maxGridWork bounds the time for differences that lie on a grid.
	maxGridWork = 50_000_000
)

// grids are the steps per unit on which scores usually lie: marks from 0 to 10,
// percentages, and fractions of a few items.
var grids = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 100, 1000}

// PairedPermutation returns the two-sided test of whether paired scores differ in
// the mean, from their differences: if neither system is better, each difference
// could as well have had the other sign. The statistic is the mean difference. It
// assumes nothing about the shape of the scores but that pairs are independent.
//
// The p-value is exact for up to 20 differences, and for any number of differences
// on a grid, as marks from 0 to 10 give them, while that takes well under a second.
// Otherwise draws sign patterns are drawn (0 means 9999), and the pattern that was
// observed counts as one more, so that p is never 0. The method says which it was.
// The order of the differences changes no digit.
//
// Source: R. A. Fisher, The Design of Experiments (1935), section 21; B. Phipson and
// G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications
// in Genetics and Molecular Biology 9 (2010).
func PairedPermutation(diffs []float64, draws int, seed uint64) Test {
	m := momentsOf(diffs)
	test := Test{Statistic: m.Mean(), P: 1, Method: "permutation-exact", N: m.N()}
	if m.skipped > 0 {
		test = test.warn(warnSkipped)
	}
	// Only differences that are usable and not 0 count.
	signs := map[float64]int{}
	counts := map[float64]int{}
	var f flips
	for _, d := range diffs {
		if !(math.Abs(d) <= maxSize) || d == 0 {
			continue
		}
		size := math.Abs(d)
		counts[size]++
		f.n++
		if d > 0 {
			f.up++
			signs[size]++
		} else {
			signs[size]--
		}
	}
	f.sizes = slices.Sorted(maps.Keys(counts))
	total, all := 0.0, 0.0
	for _, size := range f.sizes {
		f.counts = append(f.counts, counts[size])
		total += float64(size * float64(signs[size]))
		all += float64(size * float64(counts[size]))
	}
	f.sum = math.Abs(total)
	f.observed = f.sum - 1e-11*all
	switch {
	case f.n == 0:
		return test.warn(warnNoDifference)
	case len(f.sizes) == 1:
		// All differ by the same: only the signs are left.
		test.P = binomialTest(f.up, f.n, 0.5, twoSided)
	case f.n <= maxEnumerated:
		test.P = f.enumerate()
	default:
		steps, unit, ok := f.grid()
		if !ok {
			if draws <= 0 {
				draws = defaultPermutations
			}
			hits := sum(replicate(draws, seed, f.draw))
			test.P, test.Method = (hits+1)/float64(draws+1), "permutation"
			break
		}
		chance := subsetSums(steps)
		// The sum that was observed lies on the grid too, but for what rounding to ten
		// digits did to each difference.
		observed := int(math.Round(f.sum * unit))
		p := 0.0
		for up, c := range chance {
			if total := 2*up - (len(chance) - 1); max(total, -total) >= observed {
				p += c
			}
		}
		test.P = Unit.Clip(p)
	}
	return test
}

// flips are differences by size: how many there are of each size other than 0, and
// the sum that they really gave.
type flips struct {
	sizes    []float64
	counts   []int
	n, up    int
	sum      float64 // its size
	observed float64 // the same, less what rounding may have done
}

// enumerate returns the share of all sign patterns that give a sum as large. The
// first difference stays up: turning all signs changes no size.
func (f flips) enumerate() float64 {
	var list []float64
	for i, size := range f.sizes {
		list = append(list, slices.Repeat([]float64{size}, f.counts[i])...)
	}
	total := sum(list)
	patterns := 1 << (len(list) - 1)
	hits := 0
	for pattern := range patterns {
		// In Gray's order one sign turns at a time.
		if pattern > 0 {
			at := bits.TrailingZeros(uint(pattern))
			gray := pattern ^ pattern>>1
			if gray>>at&1 == 1 {
				total -= 2 * list[at]
			} else {
				total += 2 * list[at]
			}
		}
		hits += boolToInt(math.Abs(total) >= f.observed)
	}
	return float64(hits) / float64(patterns)
}

// grid returns the differences as whole steps, how many steps make one, and
// whether they lie on a grid that is coarse enough.
func (f flips) grid() (steps []int, unit float64, ok bool) {
	at := slices.IndexFunc(grids, func(unit float64) bool {
		return !slices.ContainsFunc(f.sizes, func(size float64) bool { return !(math.Abs(size*unit-math.Round(size*unit)) < 1e-9) })
	})
	if at < 0 {
		return nil, 0, false
	}
	unit = grids[at]
	total := 0.0
	for i, size := range f.sizes {
		total += size * unit * float64(f.counts[i])
		steps = append(steps, slices.Repeat([]int{int(math.Round(size * unit))}, f.counts[i])...)
	}
	return steps, unit, total*float64(f.n) <= maxGridWork
}

// draw returns 1 if a random sign pattern gives a sum as large, and 0 otherwise. One
// random bit is one sign, and of equal sizes only the number of bits counts.
func (f flips) draw(rng *rand.PCG) float64 {
	total := 0.0
	var pool uint64
	left := 0
	for i, size := range f.sizes {
		count, up := f.counts[i], 0
		for ; count > 64; count -= 64 {
			up += bits.OnesCount64(rng.Uint64())
		}
		if left < count {
			pool, left = rng.Uint64(), 64
		}
		up += bits.OnesCount64(pool & (1<<count - 1))
		pool >>= count
		left -= count
		total += float64(size * float64(2*up-f.counts[i]))
	}
	return float64(boolToInt(math.Abs(total) >= f.observed))
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
