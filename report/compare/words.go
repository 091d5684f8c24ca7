package compare

import "deem/stat"

// Conclusions say in sentences what was found about a pair of the comparison.
func (c Comparison) Conclusions(p Pair) []string { return conclusions(c, p) }

// RankText returns the rank of a run, or "-" when no order is established.
func (p Place) RankText() string { return p.rank() }

// Mark returns ~ for a difference that is not distinguishable from zero, = for one that
// lies within the margin, and "" otherwise.
func (d Difference) Mark() string { return mark(d) }

// Passing says which runs pass an item, which do not, and which have no verdict.
func (c Comparison) Passing(f Flip) string { return c.passing(f) }

// Between returns by how many percentage points the run named second exceeds the first,
// with ~ where that is not distinguishable from zero, and "-" where it is not known. Runs are named by
// their places in the comparison.
func (r Ranking) Between(first, second int) string { return r.between(first, second, len(r.Places)) }

// Interval returns a difference in percentage points with its interval.
func Interval(est stat.Estimate) string { return interval(est) }

// P returns a p-value as people write it.
func P(p float64) string { return pValue(p) }
