package report

import (
	"fmt"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Confidence is the confidence of the judge. It does not say how often the judge is right;
// only labels can show that.
type Confidence struct {
	Source string  `json:"source"` // "verdicts" or "trials"
	N      int     `json:"n"`      // verdicts with a confidence, or items with several trials
	Mean   float64 `json:"mean"`

	Below60 int `json:"below_60"` // number below 0.6
	Below90 int `json:"below_90"` // number below 0.9

	// Levels counts verdicts by tenths, or items by the share of trials that agree. Empty
	// levels are omitted.
	Levels []ConfidenceLevel `json:"levels"`
}

// A ConfidenceLevel counts confidences in [From, To), or at From if both are equal. The
// last tenth includes 1.
type ConfidenceLevel struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	N    int     `json:"n"`
}

// sureness collects the confidence of verdicts.
type sureness struct {
	values           stat.Moments
	tenths           [10]int
	below60, below90 int
	bad              int
}

// add adds the confidence of a verdict, if it has one.
func (s *sureness) add(v *deem.Verdict) {
	if v.Confidence == nil {
		return
	}
	c := *v.Confidence
	if !(c >= 0 && c <= 1) { // also NaN
		s.bad++
		return
	}
	s.values.Add(c, 1)
	s.tenths[min(int(c*10), 9)]++
	if c < 0.6 {
		s.below60++
	}
	if c < 0.9 {
		s.below90++
	}
}

// confidence returns the confidence of the judge: as stated or, if the judge states none,
// from the agreement of its trials. It is nil if neither is known.
func (b *Builder) confidence(n *Noise) *Confidence {
	if s := &b.sureness; s.values.N() > 0 {
		c := &Confidence{Source: doc.FromVerdicts, N: s.values.N(), Mean: s.values.Mean(), Below60: s.below60, Below90: s.below90}
		for i, k := range s.tenths {
			if k > 0 {
				c.Levels = append(c.Levels, ConfidenceLevel{From: float64(i) / 10, To: float64(i+1) / 10, N: k})
			}
		}
		return c
	}
	if n == nil {
		return nil
	}
	c := &Confidence{Source: doc.FromTrials, N: n.Repeated}
	var values stat.Moments
	for _, l := range n.levels {
		share := float64(l.agree) / float64(l.trials)
		values.Add(share, float64(l.items))
		if last := len(c.Levels) - 1; last >= 0 && c.Levels[last].From == share { // 2 of 2 equals 3 of 3
			c.Levels[last].N += l.items
		} else {
			c.Levels = append(c.Levels, ConfidenceLevel{From: share, To: share, N: l.items})
		}
		if share < 0.6 {
			c.Below60 += l.items
		}
		if share < 0.9 {
			c.Below90 += l.items
		}
	}
	c.Mean = values.Mean()
	return c
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
