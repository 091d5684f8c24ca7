package agree

import (
	"fmt"
	"strings"

	"deem/internal/doc"
	"deem/internal/words"
)

// few is the number of labels below which agreement is a rough guess.
const few = 30

// notes returns the notes on the numbers, most serious first.
func (b *Builder) notes(a Agreement) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	c := a.Counts
	switch {
	case c.Both == 0:
		add("no item has both a verdict and a label: agreement is unknown")
	case c.Both < few:
		add("only %s both a verdict and a label: every number here is a rough guess", words.Plural(c.Both, "item has", "items have"))
	}
	if note := b.noteMix(a.Corrected); note != "" {
		list = append(list, note)
	}
	if b.unjudgedLabels > 0 {
		add("%s a label of %s but no verdict, and no number here counts them", words.Plural(b.unjudgedLabels, "item has", "items have"), a.Who())
	}
	if c.Undecided > 0 {
		add("%s: the score counts each with its probability; agreement, kappa, false accepts and false rejects are over decided items", words.Count(c.Undecided, "undecided item"))
	}
	if c.Ties > 0 {
		add("on %s the annotators are evenly split: these have no label", words.Count(c.Ties, "item"))
	}
	if b.o.Items > c.Items {
		add("%s of %s have no record yet; the numbers will change", words.Comma(b.o.Items-c.Items), words.Count(b.o.Items, "item"))
	}
	if !a.People {
		add("%s counts as the truth here, and may be wrong itself: human labels say more", a.Who())
	}
	if s := b.o.Stopped; s != nil {
		add("the run was stopped by the rule %s: the raw score allows for looking after every item, and all other intervals do not", s.Rule)
	}
	if b.o.Trials > 1 {
		add("each item has %d trials: the score uses all of them, and agreement compares what most of them say", b.o.Trials)
	}
	if b.weighted {
		add("items carry different weights, and every share here is one of weight; counts are of items")
	}
	clusters, n := map[string]bool{}, 0
	for _, it := range b.both {
		if it.cluster != "" {
			clusters[it.cluster] = true
			n++
		}
	}
	if len(clusters) < n {
		add("%s of %s come in %s: the intervals allow for clusters (Student's t, at most %s of freedom)",
			words.Comma(n), words.Count(c.Both, "labelled item"), words.Count(len(clusters), "cluster"), words.Plural(c.Both-n+len(clusters)-1, "degree", "degrees"))
	}
	switch o := a.Own; {
	case o == nil:
	case o.Others == nil:
		add("judge and system share the model family %s: models tend to favour their own answers. "+
			"Add answers of other systems to measure by how much", o.Family)
	default:
		add("judge and system share the model family %s on some of the items: see the answers of its own family", o.Family)
	}
	return list
}

// noteMix says how labels were drawn, as far as can be seen.
func (b *Builder) noteMix(c *Corrected) string {
	if c == nil || c.Unlabelled == 0 {
		return ""
	}
	var same, other []string
	for _, t := range c.Mix.Tests {
		if !t.Differs {
			same = append(same, t.Of)
			continue
		}
		other = append(other, fmt.Sprintf("%s (p = %s after Holm)%s", t.Of, doc.Short(t.PHolm), c.Mix.how(t.Of)))
	}
	note := ""
	switch drawing(c.Mix.Drawn) {
	case byPlan:
		note = "labels were drawn by a plan, at random within each category and verdict; scores, agreement, error rates and calibration are weighted accordingly"
	case byProbability:
		note = "labels were drawn by a plan for another judge; scores, agreement, error rates and calibration are weighted by its probabilities"
	}
	if len(same) > 0 && len(other) == 0 {
		return doc.Join("; ", note, "no sign of selection in "+words.And(same))
	}
	if len(other) == 0 {
		return note
	}
	note = doc.Join("; ", note, "the labelled items differ from the others in "+strings.Join(other, "; "))
	switch {
	case c.Quote == "":
		note += ". One of the judge's two verdicts has no label at all, so nothing corrects the score: label some of both, as --plan does"
	case b.beyondWeights():
		note += ". No number here corrects for that: label items drawn at random, as --plan does"
	default:
		note += ". Rogan-Gladen assumes labels drawn at random; all other numbers are weighted by category and verdict, and assume that only within each"
	}
	return note
}

// how describes how the labelled items differ.
func (m Mix) how(of string) string {
	switch {
	case of == ofVerdict:
		return fmt.Sprintf(": the judge says yes to %s of them and to %s of the others", doc.Percent(m.Labelled.Value), doc.Percent(m.Unlabelled.Value))
	case of == ofCategory && len(m.Categories) > 0:
		shown := m.Categories[:min(len(m.Categories), 5)]
		text := ": more or fewer of them come from " + doc.IDs(shown, 0)
		if n := len(m.Categories) - len(shown); n > 0 {
			text += fmt.Sprintf(" and %d more categories", n)
		}
		return text
	}
	return ""
}
