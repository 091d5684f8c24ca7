package report

import (
	"deem"
	"deem/stat"
)

// Where a confidence comes from.
const (
	FromVerdicts = "verdicts" // the judge says how sure it is
	FromTrials   = "trials"   // the share of an item's trials that side with the majority
)

// Confidence is how sure the judge is. It is not a claim about truth: how often a sure
// judge is right, only labels can tell.
type Confidence struct {
	Source string  `json:"source"` // "verdicts" or "trials"
	N      int     `json:"n"`      // verdicts with a confidence, or items with several trials
	Mean   float64 `json:"mean"`

	Below60 int `json:"below_60"` // how many are less than 0.6 sure
	Below90 int `json:"below_90"` // how many are less than 0.9 sure

	// Levels count verdicts by tenths, or items by the share of trials that agree.
	// Empty levels are left out.
	Levels []ConfidenceLevel `json:"levels"`
}

// A ConfidenceLevel counts what lies in [From, To), or at From when both are equal. The
// last tenth holds 1 too.
type ConfidenceLevel struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	N    int     `json:"n"`
}

// sureness gathers the confidence of verdicts.
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

// confidence returns how sure the judge is, from what it says or, if it says nothing,
// from how its trials agree. It is nil when neither is known.
func (b *Builder) confidence(n *Noise) *Confidence {
	s := &b.sureness
	if s.values.N() == 0 {
		return n.confidence()
	}
	c := &Confidence{Source: FromVerdicts, N: s.values.N(), Mean: s.values.Mean(), Below60: s.below60, Below90: s.below90}
	for i, k := range s.tenths {
		if k > 0 {
			c.Levels = append(c.Levels, ConfidenceLevel{From: float64(i) / 10, To: float64(i+1) / 10, N: k})
		}
	}
	return c
}

// confidence returns the agreement of trials as a confidence.
func (n *Noise) confidence() *Confidence {
	if n == nil {
		return nil
	}
	c := &Confidence{Source: FromTrials, N: n.Repeated}
	var values stat.Moments
	for _, l := range n.Agreement {
		share := float64(l.Agree) / float64(l.Trials)
		values.Add(share, float64(l.Items))
		if last := len(c.Levels) - 1; last >= 0 && c.Levels[last].From == share { // 2 of 2 is as much as 3 of 3
			c.Levels[last].N += l.Items
		} else {
			c.Levels = append(c.Levels, ConfidenceLevel{From: share, To: share, N: l.Items})
		}
		if share < 0.6 {
			c.Below60 += l.Items
		}
		if share < 0.9 {
			c.Below90 += l.Items
		}
	}
	c.Mean = values.Mean()
	return c
}
