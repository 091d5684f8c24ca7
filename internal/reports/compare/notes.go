package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"deem/internal/doc"
	"deem/internal/words"
)

// notes returns the notes on the numbers.
func (b *Builder) notes(c Comparison) []string {
	list := []string{noteAnyway(c)}
	if !c.Refused && b.judgedByAll == 0 {
		list = append(list, "no item was judged in all runs, so their difference is unknown")
	}
	if c.Metric == MeanScore && len(c.Pairs) > 0 {
		list = append(list, "scores have no pass mark: an item counts as won or lost when its score crosses one half")
	}
	if len(c.Pairs) > 0 && b.pairs[0].score.Clustered() {
		diffs := &b.pairs[0].score
		note := fmt.Sprintf("items come in %s: intervals are cluster-robust, and tests permute whole clusters", words.Count(diffs.Named(), "cluster"))
		if n := diffs.Score(false).Clusters.Clusters(); math.Ldexp(2, -n) >= 1-b.opts.Level {
			note += fmt.Sprintf("; with so few, p cannot be below %s, and no difference can be established", doc.Short(math.Ldexp(2, -n)))
		}
		list = append(list, note)
	}
	drawn := func(d Difference) bool {
		return d.Test != nil && strings.HasSuffix(d.Test.Method, "permutation")
	}
	if slices.ContainsFunc(c.Pairs, func(p Pair) bool {
		return drawn(p.Overall) || p.Score != nil && drawn(*p.Score) || slices.ContainsFunc(p.Categories, drawn)
	}) {
		list = append(list, fmt.Sprintf("p-values of scores come from 9,999 random sign permutations (seed %d)", c.Seed))
	}
	if slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.Overall.cautious() }) {
		list = append(list, "~ = not significant by the exact test or after correction for several pairs of runs, even if the interval excludes 0")
	}
	list = append(list, noteCategories(c), noteMargin(c))
	if b.unmarked > 0 && b.unmarked < b.verdicts {
		list = append(list, fmt.Sprintf("%s of %s carry no pass mark, so scores are compared and not pass rates", words.Comma(b.unmarked), words.Count(b.verdicts, "verdict")))
	}
	corrected := len(list)
	for _, p := range c.Pairs {
		switch k := p.Corrected; {
		case k == nil:
			continue
		case k.Estimate == nil:
			list = append(list, fmt.Sprintf("there is no corrected difference of %s and %s: it takes three labels of each or more, of both verdicts and in two clusters or more; there are %s and %s",
				c.Runs[p.First].called(), c.Runs[p.Second].called(), words.Comma(k.Sides[0].Labels), words.Comma(k.Sides[1].Labels)))
			continue
		case len(list) == corrected:
			list = append(list, "corrected is the difference of the corrected scores of both runs, each from its own labels as in deem agree; what the runs share narrows the interval")
		}
		for s, run := range []int{p.First, p.Second} {
			if by := p.Corrected.Sides[s].Selected; len(by) > 0 && (s == 1 || p.Second == 1) {
				list = append(list, fmt.Sprintf("the labels of %s differ from its other items in %s more than chance explains: the corrected difference may be wrong",
					c.Runs[run].called(), strings.Join(by, ", ")))
			}
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// noteAnyway repeats what makes the comparison unfair.
func noteAnyway(c Comparison) string {
	if c.Refused {
		return ""
	}
	var kinds []string
	for _, f := range c.Lint {
		if f.Level == Error && !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return fmt.Sprintf("the runs differ in more than their systems (%s): the differences are not those of the systems alone", strings.Join(kinds, ", "))
}

// cautious reports whether the test does not establish what the interval alone would.
func (d Difference) cautious() bool {
	return d.Estimate != nil && d.Outcome != Better && d.Outcome != Worse && d.Estimate.LeavesOut(0)
}

// noteCategories gives the level of the intervals of categories.
func noteCategories(c Comparison) string {
	for _, p := range c.Pairs {
		tested := 0
		for _, d := range p.Categories {
			if d.Test != nil {
				tested++
			}
		}
		if tested > 1 {
			return fmt.Sprintf("the intervals of the %d categories are simultaneous: they hold together with %s%% confidence, and p is adjusted by Bonferroni to match",
				tested, doc.Short(100*c.Level))
		}
	}
	return ""
}

// noteMargin explains the mark of equivalence.
func noteMargin(c Comparison) string {
	if c.Margin == 0 || len(c.Pairs) == 0 {
		return ""
	}
	return fmt.Sprintf("= means equivalent within ±%s pp: both one-sided tests are below %s, so the %s%% interval lies within the margin",
		points(c.Margin), doc.Short(1-c.Level), doc.Short(100*(2*c.Level-1)))
}
