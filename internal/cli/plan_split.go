package cli

import (
	"context"
	"fmt"
	"math"

	"deem"
	"deem/internal/reports"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/stat"
)

// A splitPlan is how to divide a number of calls between items and trials.
type splitPlan struct {
	Calls    int     `json:"calls"`
	From     string  `json:"from"` // the run with the variances
	ItemCost float64 `json:"item_cost"`
	Most     int     `json:"items_at_hand,omitempty"` // 0 if further items are available for ItemCost

	BetweenItems  float64 `json:"variance_items"`  // allowing for clusters
	BetweenTrials float64 `json:"variance_trials"` // of one item

	Best  split   `json:"best"`
	Other []split `json:"other"`
}

// planSplit computes the variances from a run with several trials, and prints the split.
func (a *app) planSplit(ctx context.Context, ref string, calls int, itemCost float64) error {
	if calls < 1 || itemCost < 0 {
		return usage.Errorf("--split %d --item-cost %v: there must be a call to spend, and an item cannot cost less than nothing", calls, itemCost)
	}
	st, err := a.readRuns(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	run, err := findRun(ctx, st, ref)
	if err != nil {
		return err
	}
	found, err := reports.Of(ctx, st, run, reports.Options{MaxUnjudged: 1})
	if err != nil {
		return err
	}
	n := found.Report.Noise
	if n == nil || n.Repeated == 0 || n.SamplingUnknown {
		return usage.Mark(deem.WithHint(fmt.Errorf("run %s does not tell the judge's noise from that of the items", run.ID),
			"judge some items of several clusters more than once: deem run --data FILE --trials 3 --sample 100, and then deem plan --split %d --from last", calls))
	}
	p := splitPlan{Calls: calls, From: run.ID, ItemCost: itemCost}
	p.BetweenItems = n.SESampling * n.SESampling * float64(n.Items)
	p.BetweenTrials = n.SEJudge * n.SEJudge * float64(n.Items*n.Trials)
	if itemCost == 0 {
		p.Most = max(run.Dataset.Items, n.Items)
	}
	p.Best = bestSplit(p.BetweenItems, p.BetweenTrials, calls, itemCost, p.Most)
	if p.Best.Items == 0 {
		return usage.Errorf("--split %d: not even one item can be judged for so many calls", calls)
	}
	for _, trials := range []int{1, 2, 3, 5} {
		if s := splitOf(p.BetweenItems, p.BetweenTrials, calls, itemCost, p.Most, trials); s.Items > 0 && trials != p.Best.Trials {
			p.Other = append(p.Other, s)
		}
	}
	if a.json {
		return writeJSON(a.out, p)
	}
	say := func(s split) string {
		return fmt.Sprintf("%s with %s each: ±%.1f pp", words.Count(s.Items, "item"), words.Count(s.Trials, "trial"), 100*min(1, s.SE*stat.StudentQuantile(stat.DefaultLevel, 1e6)))
	}
	limit := fmt.Sprintf("a further item costs as much as %g calls", p.ItemCost)
	if p.Most > 0 {
		limit = fmt.Sprintf("the %s available", words.Count(p.Most, "item"))
	}
	fmt.Fprintf(a.out, "best for %s (%s): %s\n", words.Count(p.Calls, "call"), limit, say(p.Best))
	fmt.Fprintf(a.out, "variance %.4f between items and %.4f between trials of an item, from run %s\n", p.BetweenItems, p.BetweenTrials, p.From)
	for _, s := range p.Other {
		fmt.Fprintln(a.out, "  "+say(s))
	}
	return nil
}

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
