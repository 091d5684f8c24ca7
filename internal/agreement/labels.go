package agreement

import (
	"math"
	"sort"

	"deem/stat"
)

// MoreLabels returns how many more items, drawn at random from those that only the judge
// saw, people must label to make the corrected interval as narrow as width, measured from
// its lower end to its upper. It returns false if labelling all of them is not enough: the
// rest of the width is due to the number of items.
//
// It assumes that the judge will agree with people as often as it did so far, so it is
// only as good as the existing labels: with fifty it may be off by a third. With T items
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
	r := stat.Unit.Clip(current.Correlation) // a judge that is worse than chance is not used
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
	// The interval is still too wide, even if the formula says otherwise.
	return max(more, 1), true
}
