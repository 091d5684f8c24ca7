package probe

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/stat"
)

// NewCard returns the card of a judge from the records of its probes, in any order. Rates
// are those of the first trial, as in every report; further trials measure the consistency
// of the judge.
func NewCard(h Head, records iter.Seq2[deem.Record, error]) (Card, error) {
	byID := map[string]*seen{}
	failures := map[deem.Kind]int{}
	foreign := 0 // records of items that are not probes
	for rec, err := range records {
		if err != nil {
			return Card{}, err
		}
		p, ok := of(rec.Item)
		if !ok {
			foreign++
			continue
		}
		s := byID[p.ID]
		if s == nil {
			s = &seen{of: p.Of, words: len(strings.Fields(p.Response))}
			s.Mistake = Mistake{ID: p.ID, Kind: p.Kind, Want: p.Want, Variant: p.Variant}
			byID[p.ID] = s
		}
		yes := rec.Verdict != nil && rec.Verdict.Yes()
		if rec.Verdict != nil {
			s.trials++
			if yes {
				s.yes++
			}
		}
		if rec.Trial != 0 || s.first {
			continue
		}
		s.first, s.judged, s.accepted = true, rec.Verdict != nil, yes
		if rec.Failure != nil {
			failures[rec.Failure.Kind]++
		} else if rec.Verdict != nil { // a damaged file may have neither
			flip, compared := rec.Verdict.Aspects[aspectFlip]
			s.compared, s.flipped, s.firstWon = compared, flip > 0, rec.Verdict.Aspects[aspectFirst] > 0.5
		}
		if s.wrong() {
			s.Question, s.Reference, s.Response = clip(p.Question), clip(firstReference(p.Item)), clip(p.Response)
			s.Label, s.Reason = rec.Verdict.Label, clip(rec.Verdict.Reason)
		}
	}
	return cardOf(h, byID, failures, foreign), nil
}

// A seen is the state of one probe. Of its texts it keeps only those that a mistake shows.
type seen struct {
	Mistake
	of          string
	words       int
	first       bool // there is a record of trial 0
	judged      bool // trial 0 has a verdict
	accepted    bool // in trial 0
	yes, trials int  // over all trials with a verdict

	compared, flipped, firstWon bool // for a judge that compares two responses
}

// wrong reports whether the judge made an error in its first trial.
func (s *seen) wrong() bool { return s.judged && s.accepted != s.Want }

// clip shortens a text for display.
func clip(s string) string {
	const most = 600
	if r := []rune(s); len(r) > most {
		return string(r[:most/2]) + " … " + string(r[len(r)-most/2:])
	}
	return s
}

// cardOf returns the card for all records. It does not depend on their order: the probes are
// sorted by kind and then by id. No rate of a kind is withheld, because readers use them to
// see where a judge gives no verdicts; the band shows how much that may matter.
func cardOf(h Head, byID map[string]*seen, failures map[deem.Kind]int, foreign int) Card {
	c := Card{Version: cardVersion, Head: h, Failures: failures}
	var all []*seen // the probes that have a first trial
	for _, s := range byID {
		if s.first {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *seen) int {
		return cmp.Or(compareKinds(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	accepts, rejects := tally{}, tally{Rate: Rate{Want: true}}
	kinds := map[string]*tally{}
	sources := map[string]bool{}
	shown := map[string]int{}
	for _, s := range all {
		c.Probes++
		sources[s.of] = true
		if s.judged {
			c.Judged++
		} else {
			c.Unjudged++
		}
		entry(kinds, s.Kind).add(s)
		switch {
		case s.Want:
			rejects.add(s)
		case s.Kind != kindInjection:
			accepts.add(s)
		}
		if s.wrong() && shown[s.Kind] < shownMistakes {
			shown[s.Kind]++
			c.Mistakes = append(c.Mistakes, s.Mistake)
		}
	}
	c.Sources = len(sources)
	c.FalseAccepts, c.FalseRejects = accepts.rate(c.MaxUnjudged), rejects.rate(c.MaxUnjudged)
	for kind, t := range kinds {
		if t.Kind = kind; place(kind) >= 0 {
			t.About = rows()[place(kind)].about
		}
		c.Kinds = append(c.Kinds, t.rate(1))
	}
	slices.SortFunc(c.Kinds, func(a, b Rate) int { return compareKinds(a.Kind, b.Kind) })
	// The judged probes that others are derived from, by kind and item.
	plain := map[string]map[string]*seen{kindOther: {}, kindInvented: {}, kindReference: {}}
	for _, s := range byID {
		if of := plain[s.Kind]; of != nil && s.judged {
			of[s.of] = s
		}
	}
	c.Injected = injected(all, plain)
	c.Length = lengths(all, plain)
	c.Consistency = consistency(all)
	c.Order = order(all)
	if foreign > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d records are of items that are not probes, and were left out", foreign))
	}
	if c.Unjudged > 0 {
		c.Notes = append(c.Notes, "an unjudged probe is neither accepted nor rejected: rates are over those that were judged")
	}
	if slices.ContainsFunc(c.Kinds, func(r Rate) bool { return r.Judged > 0 && r.Judged < fewProbes }) {
		c.Notes = append(c.Notes, fmt.Sprintf("kinds with fewer than %d judged probes say little: look at their intervals", fewProbes))
	}
	return c
}

// compareKinds orders kinds as the table does, unknown kinds last.
func compareKinds(a, b string) int {
	// As an unsigned number, -1 is the largest.
	return cmp.Or(cmp.Compare(uint(place(a)), uint(place(b))), cmp.Compare(a, b)) //nolint:gosec // see above
}

func entry[K comparable, V any](m map[K]*V, key K) *V {
	if m[key] == nil {
		m[key] = new(V)
	}
	return m[key]
}

// A tally counts the errors among some probes.
type tally struct {
	Rate
	clusters stat.Clustered
}

func (t *tally) add(s *seen) {
	t.Want = s.Want
	t.Probes++
	if !s.judged {
		t.Unjudged++
		return
	}
	t.Judged++
	x := 0.0
	if s.wrong() {
		t.Errors++
		x = 1
	}
	// A judge's verdicts on the probes of one item are correlated. The cluster of the
	// item, such as its conversation, does not matter for a judge.
	t.clusters.Add(s.of, x, 1)
}

// rate returns the share of errors. If an item has several probes, which happens across
// kinds and within injections, they are not independent, so the interval is the clustered
// one.
func (t *tally) rate(most float64) Rate {
	r := t.Rate
	if r.Probes > 0 {
		r.Band = [2]float64{float64(r.Errors) / float64(r.Probes), float64(r.Errors+r.Unjudged) / float64(r.Probes)}
	}
	if r.Judged == 0 || tooMany(r.Unjudged, r.Probes, most) {
		return r
	}
	est := stat.Proportion(r.Errors, r.Judged, stat.DefaultLevel)
	// Without variation there is no clustered variance. Wilson's interval with the
	// number of clusters as sample size is the conservative choice.
	if n := t.clusters.Clusters(); n < r.Judged {
		switch {
		case r.Errors > 0 && r.Errors < r.Judged:
			est = t.clusters.Mean(stat.DefaultLevel, stat.Unit).AtLeastAsWide(est)
		case r.Errors == 0:
			est = stat.Proportion(0, n, stat.DefaultLevel)
		default:
			est = stat.Proportion(n, n, stat.DefaultLevel)
		}
		est.N, est.Clusters = r.Judged, n
	}
	r.Estimate = &est
	return r
}

// shownMistakes is the number of mistakes per kind on a card.
const shownMistakes = 3

// fewProbes is the number of probes below which an interval is wider than most readers
// expect.
const fewProbes = 20
