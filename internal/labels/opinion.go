package labels

import "fmt"

// An Opinion is what all annotators of an item say together.
type Opinion struct {
	Item         string
	Yes          bool
	Tie          bool // as many say yes as no: there is no decision
	For, Against int

	// Label is the label that more annotators gave than any other; "" when there is none.
	Label string

	Score  float64 // the mean
	Graded bool    // somebody gave a score

	Labels []Label
}

// Opinions returns what is said of each item, by id.
func (s *Set) Opinions() map[string]Opinion {
	all := map[string]Opinion{}
	for _, l := range s.Labels {
		o := all[l.Item]
		o.add(l)
		all[l.Item] = o
	}
	return all
}

// Resolved is the annotator of a label that people agreed on after they had disagreed. It
// decides alone, and is not one of the votes.
const Resolved = "resolved"

// Together returns what labels of one item say together.
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

// votes returns how the annotators decided.
func (o Opinion) votes() string { return fmt.Sprintf("%d for yes, %d for no", o.For, o.Against) }
