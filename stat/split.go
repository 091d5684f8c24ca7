package stat

import "math"

// A Split is a number of items that are judged so many times each.
type Split struct {
	Items  int     `json:"items"`
	Trials int     `json:"trials"`
	SE     float64 `json:"se"` // the standard error of the mean that is to be expected
}

// maxTrials is how many trials of an item are thought of.
const maxTrials = 100

// BestSplit returns how many items to judge how often, so that the mean of all has the
// smallest standard error for a number of calls. A further item costs so many calls by
// itself, and each of its trials one more. There are at most so many items; 0 means any
// number. The variances are those between items and between the trials of one item.
//
// Source: W. G. Cochran, Sampling Techniques (1977), section 10.6, for two-stage samples:
// without a limit the best number of trials is near the root of
// itemCost·betweenTrials/betweenItems.
func BestSplit(betweenItems, betweenTrials float64, calls int, itemCost float64, most int) Split {
	best := Split{SE: math.Inf(1)}
	for trials := 1; trials <= maxTrials; trials++ {
		s := SplitOf(betweenItems, betweenTrials, calls, itemCost, most, trials)
		if s.Items > 0 && s.SE < best.SE*(1-1e-12) {
			best = s
		}
	}
	return best
}

// SplitOf returns what so many trials of each item give. See [BestSplit].
func SplitOf(betweenItems, betweenTrials float64, calls int, itemCost float64, most, trials int) Split {
	items := int(float64(calls)/(itemCost+float64(trials)) + 1e-9)
	if most > 0 {
		items = min(items, most)
	}
	return Split{Items: items, Trials: trials, SE: math.Sqrt((betweenItems + betweenTrials/float64(trials)) / float64(max(items, 1)))}
}
