package report

import (
	"fmt"
	"slices"

	"deem/internal/words"
	"deem/report/internal/page"
	"deem/stat"
)

// intervals says in words how the intervals were made, unless by the usual formulas.
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
	return ""
}

// noise writes how much of the uncertainty is the judge's.
func (p *sheet) noise(n *Noise) {
	if n == nil {
		return
	}
	p.WriteByte('\n')
	if n.Mean != nil {
		g := &page.Grid{Align: "lelll"}
		g.Add("mean of trials", page.Share(*n.Mean), page.NEquals(n.Mean.N), page.Unjudged(n.Unjudged), p.Mark(n.Mean.Warnings...))
		g.Add("majority of trials", page.Share(*n.Majority), page.NEquals(n.Majority.N), page.Unjudged(n.Unjudged), p.Mark(n.Majority.Warnings...))
		p.Grid(g, "")
	}
	p.Wrap("noise    ", n.Words()+page.Prefix(" ", p.Mark(append(slices.Clone(n.Warnings), n.FlipRate.Warnings...)...)))
	if n.Flipped > 0 {
		p.Wrap("flips    ", n.flips())
	}
}

// Words says in one sentence, without a full stop, how much of the uncertainty comes
// from the items and how much from the judge. What follows ± is half of a 95% interval.
func (n *Noise) Words() string {
	flips := fmt.Sprintf("%s on %s of %s (%s, from %.1f to %.1f)", trialsDiffer(n.Trials), words.Comma(n.Flipped),
		words.Count(n.Repeated, "item"), page.Percent(n.FlipRate.Value), 100*n.FlipRate.Lo, 100*n.FlipRate.Hi)
	if n.SamplingUnknown {
		return fmt.Sprintf("one cluster says nothing about the choice of items, %s from the judge's own wavering (standard deviation of the trials %s); %s",
			points(n.SEJudge, n.DFJudge), plainPoints(n.TrialSD), flips)
	}
	if n.SETotal == 0 {
		// An error of 0 would claim too much: the interval of the mean does not.
		return "nothing varies, neither from item to item nor from trial to trial, so neither noise can be measured; " + flips
	}
	return fmt.Sprintf("%s from the choice of items, %s from the judge's own wavering (standard deviation of the trials %s); %s",
		points(n.SESampling, n.DFSampling), points(n.SEJudge, n.DFJudge), plainPoints(n.TrialSD), flips)
}

// flips names the first items whose trials differ.
func (n *Noise) flips() string {
	ids := page.Cells(n.Examples, page.IDWidth)
	if n.Flipped > len(n.Examples) {
		ids += ", ..."
	}
	return ids
}

// trialsDiffer returns "three trials differ" for three.
func trialsDiffer(trials int) string {
	small := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if trials < len(small) {
		return small[trials] + " trials differ"
	}
	return words.Comma(trials) + " trials differ"
}

// ends returns the ends of an interval as percentages.
func ends(est stat.Estimate) string { return fmt.Sprintf("%.1f, %.1f", 100*est.Lo, 100*est.Hi) }

// points returns half of the 95% interval that a standard error with so many degrees of
// freedom makes, in percentage points.
func points(se, df float64) string {
	return "± " + plainPoints(stat.HalfWidth(se, df, stat.DefaultLevel))
}

// plainPoints returns a share in percentage points, with two decimals where one would
// say nothing.
func plainPoints(x float64) string {
	if x > 0 && x < 0.01 {
		return fmt.Sprintf("%.2f pp", 100*x)
	}
	return fmt.Sprintf("%.1f pp", 100*x)
}

// confidence writes how sure the judge is.
func (p *sheet) confidence(c *Confidence) {
	if c == nil {
		return
	}
	p.WriteByte('\n')
	p.Wrap("confidence  ", c.Words())
}

// Words says how sure the judge is, and that this is no measure of truth.
func (c *Confidence) Words() string {
	of := "verdict"
	how := "as the judge states it"
	if c.Source == FromTrials {
		of, how = "item", "as the share of an item's trials that agree"
	}
	part := func(n int) string { return page.Percent(float64(n) / float64(max(c.N, 1))) }
	return fmt.Sprintf("mean %.2f over %s, %s; %s below 0.6 (%s), %s below 0.9 (%s); whether a sure judge is right, only labels can tell",
		c.Mean, words.Count(c.N, of), how, words.Comma(c.Below60), part(c.Below60), words.Comma(c.Below90), part(c.Below90))
}

// Words says which difference would be detected, without a full stop.
func (d *Detectable) Words() string {
	n := fmt.Sprintf("with n=%d", d.N)
	if d.Clusters > 0 {
		n += " in " + words.Count(d.Clusters, "cluster")
	}
	if d.EffectiveN > 0 {
		n += fmt.Sprintf(", worth %.0f independent items,", d.EffectiveN)
	}
	assumed := fmt.Sprintf("%s discordant items assumed", wholePercent(d.Discordance))
	if d.Discordance == 0 {
		assumed = fmt.Sprintf("differences assumed to vary as scores do, SD %.2f", d.SD)
	}
	if d.Clusters > 0 {
		assumed += "; differences assumed to be as clustered as scores, and usually they are less"
	}
	power := wholePercent(d.Power)
	if d.Difference >= 1 {
		return fmt.Sprintf("%s no difference to another run over the same items would be detected with %s probability (%s)", n, power, assumed)
	}
	return fmt.Sprintf("%s a difference of at least %s to another run over the same items would be detected with %s probability (%s)",
		n, plainPoints(d.Difference), power, assumed)
}

func wholePercent(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
