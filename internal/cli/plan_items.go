package cli

import (
	"context"
	"fmt"
	"io"
	"math"

	"deem"
	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/stat"
)

// A marginPlan is the number of items needed to show that two equally good runs are
// equivalent within a margin.
type marginPlan struct {
	Margin      float64 `json:"margin"`
	Needed      int     `json:"needed"` // items judged in both runs
	Level       float64 `json:"level"`
	Power       float64 `json:"power"`
	Discordance float64 `json:"discordance"` // the assumed share of items with different verdicts

	// Items is the number of items in the data, and Reach the smallest margin for which
	// they suffice. Both are absent without data.
	Items int     `json:"items,omitempty"`
	Reach float64 `json:"reach,omitempty"`

	// Clusters is the number of clusters in the data, or 0 if no cluster has several items.
	// DesignEffect is that of the score in an earlier run over the same items, or 0 if
	// there is no such run; Needed then assumes independent items.
	Clusters     int     `json:"clusters,omitempty"`
	DesignEffect float64 `json:"design_effect,omitempty"`
	From         string  `json:"from,omitempty"` // the run with the design effect
}

// planMargin returns the number of items needed for the margin. data is nil without data,
// and st without a store.
func planMargin(ctx context.Context, st store.Store, data items, margin float64) (*marginPlan, error) {
	p := &marginPlan{Margin: margin, Level: stat.DefaultLevel, Power: stat.DefaultPower, Discordance: doc.AssumedDiscordance}
	if data != nil {
		p.Items = data.Len()
		names := map[string]bool{}
		bare := 0 // items without a cluster
		for it, err := range data.Items() {
			if err != nil {
				return nil, err
			}
			if it.Cluster == "" {
				bare++
			} else {
				names[it.Cluster] = true
			}
		}
		if len(names)+bare < p.Items {
			p.Clusters = len(names)
		}
	}
	if st != nil && p.Clusters > 0 {
		// The design effect is that of the newest finished run over the same items.
		for run, err := range st.Runs(ctx) {
			if err != nil {
				return nil, err
			}
			if run.Dataset.Hash != data.Hash() || run.State != store.Done {
				continue
			}
			found, err := reports.Of(ctx, st, run, reports.Options{MaxUnjudged: 1})
			if err != nil {
				return nil, err
			}
			if d := found.Report.Clusters.DesignEffect; d > 0 {
				p.DesignEffect, p.From = d, run.ID
				break
			}
		}
	}
	sd := math.Sqrt(p.Discordance * max(1, p.DesignEffect))
	p.Needed = neededForMargin(p.Margin, sd, p.Level, p.Power)
	if p.Items > 0 {
		// The number of items is proportional to 1/margin squared.
		one := neededForMargin(0.001, sd, p.Level, p.Power)
		p.Reach = min(1, 0.001*math.Sqrt(float64(one)/float64(p.Items)))
	}
	return p, nil
}

// neededForMargin returns the number of pairs needed to show that a difference of 0 is within
// the margin, if differences have the standard deviation sd: for shares, the root of the
// share of items with different verdicts.
//
// Source: S.-C. Chow, J. Shao and H. Wang, Sample Size Calculations in Clinical Research
// (2008), section 3.1, for two one-sided tests at (1-level) each, by the normal
// distribution. Both must succeed if the difference is 0.
func neededForMargin(margin, sd, level, power float64) int {
	per := math.Sqrt2 * (math.Erfinv(2*level-1) + math.Erfinv(power)) * sd / margin
	return max(1, int(math.Ceil(min(per*per*(1-1e-9), 1<<62)))) // less a rounding error
}

func (p *marginPlan) print(w io.Writer) {
	points := func(x float64) string { return fmt.Sprintf("±%.3g pp", 100*x) }
	fmt.Fprintf(w, "equivalence within %s takes %s judged in both runs, to be found with %.0f%% probability when they are equally good (%.0f%% discordant items assumed)\n",
		points(p.Margin), words.Count(p.Needed, "item"), 100*p.Power, 100*p.Discordance)
	switch {
	case p.DesignEffect > 0:
		fmt.Fprintf(w, "this allows for %s with the design effect %.2f of the score in run %s; differences are usually less clustered than scores\n",
			words.Count(p.Clusters, "cluster"), p.DesignEffect, p.From)
	case p.Clusters > 0:
		fmt.Fprintf(w, "warning: items come in %s, and no finished run over them tells the design effect: it takes that many times as many\n",
			words.Count(p.Clusters, "cluster"))
	}
	if p.Items > 0 {
		enough := "enough"
		if p.Items < p.Needed {
			enough = "not enough; they are enough for " + points(math.Ceil(p.Reach*1000)/1000)
		}
		fmt.Fprintf(w, "the data has %s: %s\n", words.Count(p.Items, "item"), enough)
	}
}

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
	st, run, err := a.readRun(ctx, ref)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
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
