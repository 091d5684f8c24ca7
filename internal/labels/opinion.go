package labels

import "fmt"

// An Opinion combines the labels of all annotators of an item.
type Opinion struct {
	Item         string
	Yes          bool
	Tie          bool // equal numbers of yes and no: there is no decision
	For, Against int

	// Label is the most frequent label; "" if there is none.
	Label string

	Score  float64 // the mean
	Graded bool    // some annotator gave a score

	Labels []Label
}

// Opinions returns the opinion on each item, by id.
func (s *Set) Opinions() map[string]Opinion {
	all := map[string]Opinion{}
	for _, l := range s.Labels {
		o := all[l.Item]
		o.add(l)
		all[l.Item] = o
	}
	return all
}

// Resolved is the annotator of a label that people agreed on after a disagreement. It
// decides alone, and is not one of the votes.
const Resolved = "resolved"

// Together combines the labels of one item.
func Together(list []Label) Opinion {
	var o Opinion
	var settled *Label
	for _, l := range list {
		if l.Annotator == Resolved && len(list) > 1 {
			settled = &l
			continue
		}
		o.add(l)
	}
	if settled != nil {
		o.Yes, o.Tie, o.Score, o.Graded = settled.Yes, false, settled.Score, o.Graded || settled.Graded
	}
	return o
}

func (o *Opinion) add(l Label) {
	o.Item = l.Item
	if l.Yes {
		o.For++
	} else {
		o.Against++
	}
	o.Yes, o.Tie = o.For > o.Against, o.For == o.Against
	n := float64(len(o.Labels))
	o.Score = (o.Score*n + l.Score) / (n + 1)
	o.Graded = o.Graded || l.Graded
	o.Labels = append(o.Labels, l)
	counts, most := map[string]int{}, 0
	for _, l := range o.Labels {
		counts[l.Label]++
		switch n := counts[l.Label]; {
		case n > most:
			o.Label, most = l.Label, n
		case n == most:
			o.Label = ""
		}
	}
}

// votes returns the numbers of votes as text.
func (o Opinion) votes() string { return fmt.Sprintf("%d for yes, %d for no", o.For, o.Against) }
