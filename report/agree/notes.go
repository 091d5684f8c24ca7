package agree

import (
	"fmt"
	"slices"
	"strings"

	"deem/report/internal/page"
)

// few is the number of labels below which agreement is a rough guess.
const few = 30

// notes returns what a reader must know beside the numbers, the gravest first.
func (b *Builder) notes(a Agreement) []string {
	all := []string{
		noteFew(a.Counts),
		b.noteMix(a.Corrected),
		noteUnjudgedLabels(b.unjudgedLabels, a.who()),
		noteTies(a.Counts.Ties),
		b.noteMissing(a.Counts),
		noteTruth(a),
		b.noteWeights(),
		b.noteClusters(a.Counts.Both),
		b.noteOwn(a.Own),
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func noteFew(c Counts) string {
	switch {
	case c.Both == 0:
		return "no item has both a verdict and a label: nothing can be said about agreement"
	case c.Both < few:
		return fmt.Sprintf("only %s both a verdict and a label: take every number here for a rough guess", has(c.Both))
	}
	return ""
}

// has returns "1 item has" or "2 items have".
func has(n int) string {
	if n == 1 {
		return "1 item has"
	}
	return page.Count(n, "item") + " have"
}

// noteMix says that labels were not drawn at random.
func (b *Builder) noteMix(c *Corrected) string {
	if c == nil || !c.Mix.Differs {
		return ""
	}
	var what []string
	if differ(yesOf(c.Mix.Labelled.Value, c.Mix.Labelled.N), c.Mix.Labelled.N, yesOf(c.Mix.Unlabelled.Value, c.Mix.Unlabelled.N), c.Mix.Unlabelled.N, differs) {
		what = append(what, fmt.Sprintf("the judge says yes to %s of them and to %s of the others",
			page.Percent(c.Mix.Labelled.Value), page.Percent(c.Mix.Unlabelled.Value)))
	}
	if n := len(c.Mix.Categories); n > 0 {
		shown := c.Mix.Categories[:min(n, 5)]
		text := "more or fewer of them come from " + page.Cells(shown, page.NameWidth)
		if n > len(shown) {
			text += fmt.Sprintf(" and %d more categories", n-len(shown))
		}
		what = append(what, text)
	}
	return "the labelled items are no random draw of the run: " + strings.Join(what, "; ") +
		". PPI++ and Rogan-Gladen assume one; the stratified number needs it only within each category and verdict"
}

func yesOf(rate float64, n int) int { return int(rate*float64(n) + 0.5) }

func noteUnjudgedLabels(n int, who string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s a label of %s but no verdict: the judge could not judge them, and they count in no number here", has(n), who)
}

func noteTies(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("on %s as many annotators say yes as no: these have no label", page.Count(n, "item"))
}

// noteMissing says that the run goes on.
func (b *Builder) noteMissing(c Counts) string {
	if b.o.Items <= c.Items {
		return ""
	}
	return fmt.Sprintf("%s of %s have no record yet, and the numbers will move",
		page.Comma(b.o.Items-c.Items), page.Count(b.o.Items, "item"))
}

// noteTruth says that a judge stands in for people.
func noteTruth(a Agreement) string {
	if a.People {
		return ""
	}
	return a.who() + " is taken to be right here, and may be wrong itself: labels of people say more"
}

// noteWeights says that the scores here are not those of a report.
func (b *Builder) noteWeights() string {
	if !b.weighted {
		return ""
	}
	return "items carry different weights, and every number here counts each item once: the run's own score, which is weighted, is another"
}

// noteClusters says that the items are not independent.
func (b *Builder) noteClusters(both int) string {
	n := 0
	for _, items := range b.clusters {
		n += items
	}
	if len(b.clusters) == n {
		return ""
	}
	return fmt.Sprintf("%s of %s come in %s: treat the intervals as optimistic",
		page.Comma(n), page.Count(both, "item"), page.Count(len(b.clusters), "cluster"))
}

// noteOwn says that a model judges its own kind.
func (b *Builder) noteOwn(o *Own) string {
	switch {
	case o == nil:
		return ""
	case o.Others == nil:
		return fmt.Sprintf("judge and system share the model family %s: a model is lenient with its own answers. "+
			"Answers of other systems beside these would show by how much", o.Family)
	}
	return fmt.Sprintf("judge and system share the model family %s on a part of the items: see own answers above", o.Family)
}

// who returns who is taken to be right.
func (a Agreement) who() string {
	if a.People {
		return "people"
	}
	return a.Truth.name()
}
