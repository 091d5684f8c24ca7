package compare

import "deem/stat"

// Conclusion says in a sentence what was found about a pair of the comparison.
func (c Comparison) Conclusion(p Pair) string { return conclusion(c, p) }

// Passing says which runs pass an item, which do not, and which have no verdict.
func (c Comparison) Passing(f Flip) string { return c.passing(f) }

// Between returns by how many percentage points the run named second exceeds the first,
// with ~ where that is within noise, and "-" where it is not known. Runs are named by
// their places in the comparison.
func (r Ranking) Between(first, second int) string { return r.between(first, second, len(r.Places)) }

// Interval returns a difference in percentage points with its interval.
func Interval(est stat.Estimate) string { return interval(est) }

// P returns a p-value as people write it.
func P(p float64) string { return pValue(p) }
