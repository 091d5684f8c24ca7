package cli

import (
	"context"
	"fmt"
	"io"
	"math"

	"deem/internal/doc"
	"deem/internal/reports"
	"deem/internal/store"
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

// print prints the plan as sentences.
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
