package report

import (
	"fmt"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// intervals describes how the intervals were computed, unless by the usual formulas.
func intervals(r Report) string {
	b := r.Head.Bootstrap
	switch {
	case r.Stopped != nil:
		return "anytime-valid (betting): that of the score holds at every look"
	case b != nil && r.Clusters.Robust:
		return fmt.Sprintf("by resampling clusters, %s draws, seed %d", words.Comma(b.Draws), b.Seed)
	case b != nil:
		return fmt.Sprintf("by resampling items (BCa), %s draws, seed %d", words.Comma(b.Draws), b.Seed)
	case r.Clusters.Robust:
		return "cluster-robust"
	}
	return "from formulas, items taken as independent"
}

// Words says in one sentence, without a full stop, how much of the uncertainty comes from
// the items and how much from the judge. The number after ± is half the width of a 95%
// interval.
func (n *Noise) words() string {
	flips := fmt.Sprintf("%s on %s of %s (%s)", trialsDiffer(n.Trials), words.Comma(n.Flipped), words.Count(n.Repeated, "item"), doc.Share(n.FlipRate))
	judge := fmt.Sprintf("%s from the judge's own noise (standard deviation of the trials %s)", points(n.SEJudge, n.DFJudge), plainPoints(n.TrialSD))
	if n.SamplingUnknown {
		return fmt.Sprintf("one cluster says nothing about the choice of items, %s; %s", judge, flips)
	}
	if n.SETotal == 0 {
		// An error of 0 would claim too much; the interval of the mean does not.
		return "nothing varies, neither from item to item nor from trial to trial, so neither noise can be measured; " + flips
	}
	return fmt.Sprintf("%s from the choice of items, %s; %s", points(n.SESampling, n.DFSampling), judge, flips)
}

// trialsDiffer returns "three trials differ" for three.
func trialsDiffer(trials int) string {
	names := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if trials < len(names) {
		return names[trials] + " trials differ"
	}
	return words.Comma(trials) + " trials differ"
}

// points returns half the width of the 95% interval for a standard error with df degrees of
// freedom, in percentage points.
func points(se, df float64) string {
	half := 0.0
	if se > 0 {
		half = min(1, se*stat.StudentQuantile(stat.DefaultLevel, df))
	}
	return "± " + plainPoints(half)
}

// plainPoints returns a share in percentage points, with two decimals if one would round it
// to nothing.
func plainPoints(x float64) string {
	if x > 0 && x < 0.01 {
		return fmt.Sprintf("%.2f pp", 100*x)
	}
	return fmt.Sprintf("%.1f pp", 100*x)
}

// Words describes the confidence of the judge, and says that it is not accuracy.
func (c *Confidence) Words() string {
	of, how := "verdict", "stated by the judge"
	if c.Source == doc.FromTrials {
		of, how = "item", "the share of an item's trials that agree"
	}
	part := func(n int) string {
		return fmt.Sprintf("%s (%s)", words.Comma(n), doc.Percent(float64(n)/float64(max(c.N, 1))))
	}
	return fmt.Sprintf("mean %.2f over %s, %s; %s below 0.6, %s below 0.9; label items to check how often it is right",
		c.Mean, words.Count(c.N, of), how, part(c.Below60), part(c.Below90))
}

// Words describes the detectable difference, without a full stop.
func (d *Detectable) words() string {
	n := doc.NEquals(d.N)
	if d.Clusters > 0 {
		n += " in " + words.Count(d.Clusters, "cluster")
	}
	if d.EffectiveN > 0 {
		n += fmt.Sprintf(", worth %.0f independent items", d.EffectiveN)
	}
	assumed := fmt.Sprintf("assumes %s discordant items", wholePercent(d.Discordance))
	if d.Discordance == 0 {
		assumed = fmt.Sprintf("assumes that differences vary as scores do, SD %.2f", d.SD)
	}
	if d.Clusters > 0 {
		assumed += ", and differences as clustered as scores, which is usually too careful"
	}
	least := plainPoints(d.Difference)
	if d.Difference >= 1 {
		least = "none"
	}
	return fmt.Sprintf("smallest detectable difference to another run over the same items: %s (%s power; %s; %s)", least, wholePercent(d.Power), n, assumed)
}

func wholePercent(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
