package agreement

import (
	"math"
	"sort"

	"deem/stat"
)

// MoreLabels returns how many more of the items that the judge alone saw people
// would have to label, drawn at random, to make the corrected interval as narrow as
// width, which is from its lower end to its upper. It returns false when even
// labelling all of them would not do: the rest of the width is due to there being
// no more items.
//
// It assumes that the judge will go on to agree with people as it did, so it is only
// as good as the labels there are: with fifty it may be off by a third. With T items
// in all, n of them labelled, a variance s² of people's scores and a correlation r,
// the best weight of the judge gives the value the variance
//
//	s²(1-r²)/n + s²r²/T
//
// whose first part labels can shrink (Angelopoulos, Duchi and Zrnic 2023).
func MoreLabels(current PPI, width float64) (int, bool) {
	have, all := current.Labels, current.Labels+current.Unlabelled
	if have <= 0 || current.Unlabelled < 0 || !(width > 0) {
		return max(current.Unlabelled, 0), false
	}
	r := stat.Unit.Clip(current.Correlation) // a judge that is wrong on purpose is not used
	narrow := func(n int) bool {
		se := math.Sqrt(current.Variance * ((1-float64(r*r))/float64(max(n-2, 1)) + float64(r*r)/float64(all)))
		return 2*fastQuantile(current.Level, float64(max(n-2, 1)))*se <= width
	}
	if current.Hi-current.Lo <= width {
		return 0, true
	}
	more := sort.Search(current.Unlabelled+1, func(k int) bool { return narrow(have + k) })
	if more > current.Unlabelled {
		return current.Unlabelled, false
	}
	// The interval is wider than the formula knows if it has not arrived yet.
	return max(more, 1), true
}
