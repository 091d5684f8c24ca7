package cli

import "math"

// A split is a number of items and a number of trials for each.
type split struct {
	Items  int     `json:"items"`
	Trials int     `json:"trials"`
	SE     float64 `json:"se"` // the expected standard error of the mean
}

// maxTrials is the maximum number of trials per item that is considered.
const maxTrials = 100

// bestSplit returns the numbers of items and trials that give the mean the smallest
// standard error for a number of calls. Each item costs itemCost calls, and each of its
// trials one more. There are at most most items; 0 means any number. The variances are
// those between items and between the trials of one item.
//
// Source: W. G. Cochran, Sampling Techniques (1977), section 10.6, for two-stage samples:
// without a limit the best number of trials is near the root of
// itemCost·betweenTrials/betweenItems.
func bestSplit(betweenItems, betweenTrials float64, calls int, itemCost float64, most int) split {
	best := split{SE: math.Inf(1)}
	for trials := 1; trials <= maxTrials; trials++ {
		s := splitOf(betweenItems, betweenTrials, calls, itemCost, most, trials)
		if s.Items > 0 && s.SE < best.SE*(1-1e-12) {
			best = s
		}
	}
	return best
}

// splitOf returns the split with the given number of trials per item. See [bestSplit].
func splitOf(betweenItems, betweenTrials float64, calls int, itemCost float64, most, trials int) split {
	items := int(float64(calls)/(itemCost+float64(trials)) + 1e-9)
	if most > 0 {
		items = min(items, most)
	}
	return split{Items: items, Trials: trials, SE: math.Sqrt((betweenItems + betweenTrials/float64(trials)) / float64(max(items, 1)))}
}
