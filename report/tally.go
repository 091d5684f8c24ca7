package report

import (
	"fmt"

	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// A tally collects the outcomes of many items. The metric is known only at the end, so it
// collects values for all metrics.
type tally struct {
	items, unjudged int
	guesses         stat.Guesses // items that the judge did not decide
	unmarked        int          // judged items with some verdict without a pass mark
	graded          bool         // some verdict has a score other than 0 and 1

	score, pass sides

	// failed has the share of trials without a verdict of each item with a verdict. An
	// undecided item counts as failed here.
	failed stat.Moments

	cast cast
}

// sides are the values of a metric: of items that every trial judged, of items that only
// some trials judged, of undecided items, and of all items with a failure or undecided,
// counted as wrong.
type sides struct{ whole, part, guessed, strict stat.Moments }

// add adds the value of an outcome.
func (s *sides) add(x float64, o outcome) {
	switch {
	case o.undecided:
		s.guessed.Add(x, o.weight)
	case o.failed == 0:
		s.whole.Add(x, o.weight)
		return
	case o.failed < 1:
		s.part.Add(x, o.weight)
	}
	s.strict.Add(float64(x*(1-o.lost())), o.weight)
}

// An outcome is the result of one item: the means of its verdicts.
type outcome struct {
	score, pass float64
	marked      bool    // every verdict has a pass mark
	graded      bool    // some verdict has a score other than 0 and 1
	failed      float64 // the share of trials without a verdict; 1 means unjudged
	undecided   bool    // some trial gave a probability instead of a verdict

	weight float64
	member member
	limit  int // the number of groups of items without a cluster that are kept apart
}

// lost returns the share of the outcome that may be wrong or right.
func (o outcome) lost() float64 {
	if o.undecided {
		return 1
	}
	return o.failed
}

func (t *tally) add(o outcome) {
	t.items++
	g := group{items: 1}
	weight := fixedOf(o.weight)
	if o.lost() > 0 {
		t.failed.Add(o.lost(), o.weight)
	}
	t.score.add(o.score, o)
	if o.failed == 1 {
		t.unjudged++
		g.missing = weight
		t.pass.add(0, o)
	} else {
		if o.undecided {
			t.guesses.Add(o.score, o.weight)
			g.guessed, g.guess = weight, fixedOf(o.weight*o.score)
		}
		t.graded = t.graded || o.graded
		g.w, g.score, g.lostScore = weight, fixedOf(o.weight*o.score), fixedOf(o.weight*o.score*o.lost())
		if o.marked {
			t.pass.add(o.pass, o)
			g.pass, g.lostPass = fixedOf(o.weight*o.pass), fixedOf(o.weight*o.pass*o.lost())
		} else {
			t.unmarked++
		}
	}
	if o.member.named {
		t.cast.named.add(o.member.key, g, maxNamed)
	} else {
		t.cast.alone.add(o.member.key, g, o.limit)
	}
}

// clone returns a deep copy.
func (t *tally) clone() *tally {
	out := *t
	out.cast = t.cast.clone()
	return &out
}

// judged returns how many outcomes are verdicts.
func (t *tally) judged() int { return t.items - t.unjudged - t.guesses.N() }

// metrics returns the metrics of the verdicts, the headline first.
func (t *tally) metrics() []string {
	score := doc.MeanScore
	if !t.graded {
		score = doc.Score
	}
	if t.judged() > 0 && t.unmarked == 0 {
		return []string{doc.PassRate, score}
	}
	return []string{score}
}

// of returns the values of a metric.
func (t *tally) of(metric string) *sides {
	if metric == doc.PassRate {
		return &t.pass
	}
	return &t.score
}

// decided returns the values of judged items.
func (t *tally) decided(metric string) stat.Moments {
	s := t.of(metric)
	m := s.whole
	m.Merge(s.part)
	return m
}

// values returns the values that the metric is computed from.
func (t *tally) values(metric string) stat.Moments {
	m := t.decided(metric)
	m.Merge(t.of(metric).guessed)
	return m
}

// strict returns the same with failures counted as wrong.
func (t *tally) strict(metric string) stat.Moments {
	s := t.of(metric)
	m := s.whole
	m.Merge(s.strict)
	return m
}

// hold returns why the score over the judged items would mislead, or nil.
func (t *tally) hold(limit float64, noun string) *Hold {
	if t.items == 0 || float64(t.unjudged)/float64(t.items) <= limit {
		return nil
	}
	return &Hold{
		Reason: fmt.Sprintf("%s of %s (%s%%) %s unjudged, and at most %s%% may be",
			words.Comma(t.unjudged), words.Count(t.items, noun), doc.Short(100*float64(t.unjudged)/float64(t.items)), words.IsAre(t.unjudged), doc.Short(100*limit)),
		Unjudged: t.unjudged, Items: t.items, Limit: limit,
	}
}

// figures returns the numbers of one metric, without the score if it is withheld.
func (t *tally) figures(by estimator, metric string, withheld bool) Figures {
	f := Figures{
		Metric: metric,
		Strict: by.estimate(t, side{metric: metric, strict: true}),
		Items:  t.items, Unjudged: t.unjudged, Undecided: t.guesses.N(),
	}
	all := t.strict(metric)
	f.Band = Band{Lo: f.Strict.Value, Hi: f.Strict.Value}
	if t.failed.N() > 0 {
		f.Band.Hi = min(1, f.Strict.Value+t.failed.Mean()*t.failed.Weight()/all.Weight())
	}
	if t.items == 0 {
		f.Band = Band{Lo: 0, Hi: 1}
	}
	switch {
	case withheld || t.items == t.unjudged:
	case t.failed.N() == 0:
		// Without failures the two are equal, and resampling takes time.
		est := f.Strict
		f.Judged = &est
	default:
		est := by.estimate(t, side{metric: metric})
		f.Judged = &est
		if t.guesses.N() > 0 && t.judged() > 0 {
			f.Decided = new(by.estimate(t, side{metric: metric, decided: true}))
		}
	}
	return f
}

// usableScore reports whether x is a valid score. It is false for NaN.
func usableScore(x float64) bool { return x >= 0 && x <= 1 }
