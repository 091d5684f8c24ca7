package doc

import "deem"

// Trials is what several verdicts on one item say together. A verdict is a yes if it passes
// or, without a pass mark, if its score is at least one half.
type Trials struct {
	N      int     // verdicts
	Score  float64 // their mean score
	Yes    float64 // the share of yes among them
	Marked bool    // all have a pass mark
	Graded bool    // one has a score other than 0 and 1

	// First is the first verdict that says what at least half of them say: yes if as many say
	// yes as no.
	First *deem.Verdict
}

// MeanOf returns the mean of the verdicts of an item's trials. There must be at least one.
func MeanOf(verdicts []*deem.Verdict) Trials {
	t := Trials{N: len(verdicts), Marked: true}
	for _, v := range verdicts {
		t.Score += v.Score
		if v.Yes() {
			t.Yes++
		}
		t.Marked = t.Marked && v.Pass != nil
		t.Graded = t.Graded || v.Score != 0 && v.Score != 1
	}
	n := float64(t.N)
	t.Score, t.Yes = min(t.Score/n, 1), t.Yes/n
	for _, v := range verdicts {
		if t.First = v; v.Yes() == (t.Yes >= 0.5) {
			break
		}
	}
	return t
}

// WeightOf returns the weight of an item and whether it is valid. An invalid weight counts
// as 1, so that no item disappears from the count.
func WeightOf(it deem.Item) (weight float64, ok bool) {
	switch {
	case it.Weight == 0:
		return 1, true
	case it.Weight >= 1e-9 && it.Weight <= 1e9:
		return it.Weight, true
	default:
		return 1, false
	}
}
