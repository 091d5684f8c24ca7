package claims

import (
	"math"
	"math/big"
	"slices"
)

// A line is a row for arithmetic: parts of known sizes, and the whole.
type line struct {
	parts   []Cell
	sizes   []int64
	overall Cell
	total   int64 // at least the sum of the sizes; 0 if there is no overall

	// steps is the number of steps that searches may still take, over the whole table. If
	// none is left, the searched result counts as possible.
	steps *int
}

// step takes a step, and reports whether one was left.
func (l line) step() bool {
	*l.steps--
	return *l.steps >= 0
}

// The ways to compute an overall from its parts.
const (
	Weighted = "weighted" // all questions have equal weight
	Plain    = "plain"    // all categories have equal weight
)

// A Fit is a way in which all numbers of a row may have been computed.
type Fit struct {
	Mean    string   `json:"mean,omitempty"` // "" if there is nothing to add up
	Runs    int      `json:"runs"`
	Parts   Rounding `json:"parts"`
	Overall Rounding `json:"overall"`
	Printed bool     `json:"of_printed,omitempty"` // the mean is that of the printed, rounded parts

	// Lo and Hi bound the number of right answers, over all runs.
	Lo int64 `json:"lo"`
	Hi int64 `json:"hi"`
}

// roundings are the pairs of roundings, of the parts and of the overall, most likely first.
var roundings = [][2]Rounding{{Nearest, Nearest}, {Truncated, Truncated}, {Truncated, Nearest}, {Nearest, Truncated}}

// fits returns the simplest ways in which the row may have been computed: of those with the
// fewest runs, those with the first pair of roundings. Numbers that were rounded before are
// tried last.
func (l line) fits(most int) []Fit {
	if list := l.fitsWith(most, roundings); len(list) > 0 {
		return list
	}
	return l.fitsWith(most, [][2]Rounding{{Loose, Loose}})
}

func (l line) fitsWith(most int, roundings [][2]Rounding) []Fit {
	for r := 1; r <= most; r++ {
		for _, m := range roundings {
			if list := l.fitsAs(r, m[0], m[1]); len(list) > 0 {
				return list
			}
		}
	}
	return nil
}

func (l line) fitsAs(runs int, parts, overall Rounding) []Fit {
	f := Fit{Runs: runs, Parts: parts, Overall: overall}
	var ranges [][2]int64 // the counts that each part allows
	for i, c := range l.parts {
		lo, hi := c.counts(l.sizes[i], runs, parts)
		if lo > hi {
			return nil
		}
		ranges = append(ranges, [2]int64{lo, hi})
		f.Lo, f.Hi = f.Lo+lo, f.Hi+hi
	}
	if !l.overall.says() {
		return []Fit{f}
	}
	rest := l.total
	for _, n := range l.sizes {
		rest -= n
	}
	var list []Fit
	lo, hi := l.overall.counts(l.total, runs, overall)
	lo, hi = max(lo, f.Lo), min(hi, f.Hi+int64(runs)*rest)
	printed := l.printedMean(true)
	switch {
	case lo <= hi && len(l.parts) == 0:
		return []Fit{{Runs: runs, Parts: parts, Overall: overall, Lo: lo, Hi: hi}}
	case lo <= hi:
		list = append(list, Fit{Weighted, runs, parts, overall, false, lo, hi})
	case rest == 0 && l.overall.allows(printed, overall):
		list = append(list, Fit{Weighted, runs, parts, overall, true, f.Lo, f.Hi})
	}
	switch {
	case len(l.parts) == 0 || l.overall.Count != nil: // a printed count is not a mean
	case l.plainMean(ranges, runs, overall):
		list = append(list, Fit{Plain, runs, parts, overall, false, f.Lo, f.Hi})
	case l.overall.allows(l.printedMean(false), overall):
		list = append(list, Fit{Plain, runs, parts, overall, true, f.Lo, f.Hi})
	}
	return list
}

// allows reports whether the percentage v can be printed as the cell.
func (c Cell) allows(v *big.Rat, m Rounding) bool {
	return v != nil && c.Percent != nil && c.Percent.bounds(m).has(v)
}

// printedMean returns the mean of the parts as printed, nil if one is missing.
func (l line) printedMean(weighted bool) *big.Rat {
	sum, all := new(big.Rat), int64(0)
	for i, c := range l.parts {
		v := c.value()
		if v == nil {
			return nil
		}
		n := int64(1)
		if weighted {
			n = l.sizes[i]
		}
		sum.Add(sum, v.Mul(v, big.NewRat(n, 1)))
		all += n
	}
	if all == 0 {
		return nil
	}
	return sum.Quo(sum, big.NewRat(all, 1))
}

// value returns the number as printed, or nil.
func (c Cell) value() *big.Rat {
	switch {
	case c.Percent != nil:
		return c.Percent.rat()
	case c.Count != nil:
		return big.NewRat(100*c.Count.Right, c.Count.Of)
	}
	return nil
}

// maxSteps is the maximum number of search steps for a table, which take some seconds.
const maxSteps = 1_000_000

// plainMean reports whether there are counts in the ranges whose plain mean is printed as
// the overall. Missing parts do not count.
func (l line) plainMean(ranges [][2]int64, runs int, m Rounding) bool {
	if l.overall.Percent == nil {
		return false
	}
	var lo, hi, den []int64
	for i, c := range l.parts {
		if c.says() {
			lo, hi, den = append(lo, ranges[i][0]), append(hi, ranges[i][1]), append(den, int64(runs)*l.sizes[i])
		}
	}
	b := l.overall.Percent.bounds(m)
	scale := float64(len(den)) / 100 / float64(b.den)
	least, most := float64(b.lo)*scale, float64(b.hi)*scale
	const slack = 1e-9 // far smaller than any step, far larger than any rounding error
	// What the parts from the i-th on can add.
	below, above := make([]float64, len(den)+1), make([]float64, len(den)+1)
	for i := len(den) - 1; i >= 0; i-- {
		below[i] = below[i+1] + float64(lo[i])/float64(den[i])
		above[i] = above[i+1] + float64(hi[i])/float64(den[i])
	}
	counts := make([]int64, len(den))
	var search func(i int, sum float64) bool
	search = func(i int, sum float64) bool {
		switch {
		case !l.step():
			return true
		case i == len(den):
			mean := new(big.Rat)
			for j, k := range counts {
				mean.Add(mean, big.NewRat(100*k, den[j]))
			}
			return b.has(mean.Quo(mean, big.NewRat(int64(len(den)), 1)))
		case sum+below[i] > least+slack && sum+above[i] < most-slack:
			return true
		}
		n := float64(den[i])
		first := max(lo[i], int64(math.Ceil((least-slack-sum-above[i+1])*n)))
		last := min(hi[i], int64(math.Floor((most+slack-sum-below[i+1])*n)))
		for k := first; k <= last; k++ {
			counts[i] = k
			if search(i+1, sum+float64(k)/n) {
				return true
			}
		}
		return false
	}
	return len(den) > 0 && search(0, 0)
}

// readings returns the ways to assign the sizes to the parts under which the whole row can
// be one run. Each is a list of indexes into the sizes. Assignments that differ only in
// categories of the same size count as one. It returns false if not all could be tried.
func (l line) readings() ([][]int, bool) {
	var found [][]int
	used := make([]bool, len(l.parts))
	assigned := make([]int, 0, len(l.parts))
	var search func()
	search = func() {
		if !l.step() {
			return
		}
		i := len(assigned)
		if i == len(l.parts) {
			if len(l.as(assigned).fitsWith(1, roundings)) > 0 {
				found = append(found, slices.Clone(assigned))
			}
			return
		}
		tried := map[int64]bool{}
		list := []int{i}
		for j := range l.sizes {
			if j != i {
				list = append(list, j)
			}
		}
		for _, j := range list {
			if used[j] || tried[l.sizes[j]] {
				continue
			}
			tried[l.sizes[j]] = true
			if !l.parts[i].isOneRun(l.sizes[j]) {
				continue
			}
			used[j] = true
			assigned = append(assigned, j)
			search()
			assigned = assigned[:i]
			used[j] = false
		}
	}
	search()
	return found, *l.steps >= 0
}

// as returns the line with its sizes reassigned.
func (l line) as(reading []int) line {
	sizes := make([]int64, len(reading))
	for i, j := range reading {
		sizes[i] = l.sizes[j]
	}
	l.sizes = sizes
	return l
}

// gap returns by how many questions the printed numbers miss a single run: the distance of
// each part from the nearest whole number, and of the parts together from the overall.
func (l line) gap() float64 {
	gap, least, most := 0.0, 0.0, 0.0
	for i, c := range l.parts {
		n := float64(l.sizes[i])
		v := c.value()
		if v == nil {
			most += n
			continue
		}
		lo, hi := c.span()
		lo, hi = lo*n, hi*n
		if !c.isOneRun(l.sizes[i]) {
			gap += min(lo-math.Floor(lo), math.Ceil(hi)-hi)
		}
		least, most = least+lo, most+hi
	}
	if l.overall.says() {
		lo, hi := l.overall.span()
		total := float64(l.total)
		gap += max(0, least-hi*total, lo*total-most)
	}
	return gap
}

// span returns the range of shares that are printed as the cell, under any rounding.
func (c Cell) span() (lo, hi float64) {
	if c.Percent == nil {
		v := float64(c.Count.Right) / float64(c.Count.Of)
		return v, v
	}
	b := c.Percent.bounds(Loose)
	return float64(b.lo) / float64(b.den) / 100, float64(b.hi) / float64(b.den) / 100
}

// maxNearest is the maximum number of parts that are permuted to find the nearest reading.
const maxNearest = 7

// nearest returns the reading with the smallest gap.
func (l line) nearest() ([]int, float64) {
	labelled := make([]int, len(l.parts))
	for i := range labelled {
		labelled[i] = i
	}
	best, least := slices.Clone(labelled), l.gap()
	if len(l.parts) > maxNearest {
		return best, least
	}
	var permute func(i int)
	permute = func(i int) {
		if !l.step() {
			return
		}
		if i == len(labelled) {
			if gap := l.as(labelled).gap(); gap < least-1e-9 {
				best, least = slices.Clone(labelled), gap
			}
			return
		}
		for j := i; j < len(labelled); j++ {
			labelled[i], labelled[j] = labelled[j], labelled[i]
			permute(i + 1)
			labelled[i], labelled[j] = labelled[j], labelled[i]
		}
	}
	permute(0)
	return best, least
}
