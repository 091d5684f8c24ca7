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
	all := []string{
		noteAnyway(c),
		b.noteNothing(c),
		noteFlips(c),
		b.noteClusters(c),
		notePermutation(c),
		noteCautious(c),
		noteCategories(c),
		noteMargin(c),
		b.noteMarks(),
	}
	all = append(all, noteCorrected(c)...)
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
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

func (b *Builder) noteNothing(c Comparison) string {
	if c.Refused || b.judgedByAll > 0 {
		return ""
	}
	return "no item was judged in all runs, so their difference is unknown"
}

// noteFlips says when an item passes if scores have no pass mark.
func noteFlips(c Comparison) string {
	if c.Metric != MeanScore || len(c.Pairs) == 0 {
		return ""
	}
	return "scores have no pass mark: an item counts as won or lost when its score crosses one half"
}

// noteClusters says that items are not independent.
func (b *Builder) noteClusters(c Comparison) string {
	if len(c.Pairs) == 0 || !b.pairs[0].score.diffs.several {
		return ""
	}
	diffs := &b.pairs[0].score.diffs
	note := fmt.Sprintf("items come in %s: intervals are cluster-robust, and tests permute whole clusters", words.Count(len(diffs.named), "cluster"))
	if n := diffs.groups().Clusters(); math.Ldexp(2, -n) >= 1-b.opts.Level {
		note += fmt.Sprintf("; with so few, p cannot be below %s, and no difference can be established", doc.Short(math.Ldexp(2, -n)))
	}
	return note
}

// notePermutation gives the seed of permutation tests.
func notePermutation(c Comparison) string {
	drawn := func(d Difference) bool {
		return d.Test != nil && strings.HasSuffix(d.Test.Method, "permutation")
	}
	for _, p := range c.Pairs {
		if drawn(p.Overall) || p.Score != nil && drawn(*p.Score) || slices.ContainsFunc(p.Categories, drawn) {
			return fmt.Sprintf("p-values of scores come from 9,999 random sign permutations (seed %d)", c.Seed)
		}
	}
	return ""
}

// noteCautious explains an overall difference that is not established although its interval
// excludes 0.
func noteCautious(c Comparison) string {
	for _, p := range c.Pairs {
		if p.Overall.cautious() {
			return "~ = not significant by the exact test or after correction for several pairs of runs, even if the interval excludes 0"
		}
	}
	return ""
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

// noteMarks says why there is no pass rate although some verdicts have a pass mark.
func (b *Builder) noteMarks() string {
	judged := 0
	for i := range b.sides {
		judged += b.sides[i].items - b.sides[i].unjudged - b.sides[i].guesses.N()
	}
	if b.unmarked == 0 || b.unmarked == judged {
		return ""
	}
	return fmt.Sprintf("%s of %s carry no pass mark, so scores are compared and not pass rates", words.Comma(b.unmarked), words.Count(judged, "verdict"))
}
