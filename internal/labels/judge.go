package labels

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/judge"
)

// A labelled judge returns the verdicts of a set of labels.
type labelled struct {
	name, hash string
	opinions   map[string]Opinion
}

var _ deem.Identified = (*labelled)(nil)

// Judge returns a judge whose verdicts are the labels of people, or those of another
// program, on the items with the same ids. An item without a label is a failure of kind
// input, and one on which annotators are evenly split is unsure.
func (s *Set) Judge(name string) (deem.Judge, error) {
	hash, err := s.Hash()
	if err != nil {
		return nil, err
	}
	return &labelled{name: name, hash: hash, opinions: s.Opinions()}, nil
}

// Name returns the name of the judge.
func (j *labelled) Name() string { return j.name }

// Identity returns the [judge.Spec] of the judge: its name, and the hash of the labels.
func (j *labelled) Identity() any {
	return judge.Spec{Kind: Kind, Name: j.name, Options: map[string]string{"hash": j.hash}}
}

// Kind is the kind of a judge that returns the verdicts in a file of labels.
const Kind = "labels"

// Judge looks up the verdict.
func (j *labelled) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return deem.Verdict{}, err
	}
	o, ok := j.opinions[it.ID]
	switch {
	case !ok:
		return deem.Verdict{}, deem.Failf(deem.Input, "there is no label for item %q", it.ID)
	case slices.ContainsFunc(o.Labels, func(l Label) bool { return l.Other(it.Response) }):
		return deem.Verdict{}, deem.Failf(deem.Input, "the label for item %q is about another response", it.ID)
	case o.Tie:
		return deem.Verdict{}, deem.Failf(deem.Unsure, "the annotators are evenly split: %s", o.votes())
	}
	if len(o.Labels) == 1 {
		l := o.Labels[0]
		v := deem.Verdict{Label: l.Label, Score: l.Score, Reason: l.Reason, Confidence: l.Confidence}
		if l.Graded {
			v.Pass = &l.Yes
		}
		return v, nil
	}
	v := deem.Verdict{Label: "no", Reason: o.votes()}
	if o.Yes {
		v.Label, v.Score = "yes", 1
	}
	if o.Graded {
		v.Score, v.Pass = o.Score, &o.Yes
	}
	return v, nil
}

// Other reports whether the label is about another response than the given one. Surrounding
// white space is ignored, because editors change it.
func (l Label) Other(response string) bool {
	if l.Response == nil {
		return false
	}
	text := *l.Response
	if rest, ok := strings.CutPrefix(text, "'"); ok && Guard(rest) == text {
		text = rest
	}
	return strings.TrimSpace(text) != strings.TrimSpace(response)
}

// risky are the first characters for which a spreadsheet may treat a cell as a formula and
// execute it. A response is untrusted text.
const risky = "=+-@\t\r"

// Guard returns text that is safe in a table that people open in a spreadsheet.
// [Label.Other] recognises guarded responses.
func Guard(text string) string {
	if text != "" && strings.ContainsRune(risky, rune(text[0])) {
		return "'" + text
	}
	return text
}

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
	of := map[string][]Label{}
	for _, l := range s.Labels {
		of[l.Item] = append(of[l.Item], l)
	}
	all := map[string]Opinion{}
	for id, list := range of {
		all[id] = Together(list)
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
		o.Item = l.Item
		if l.Yes {
			o.For++
		} else {
			o.Against++
		}
		n := float64(len(o.Labels))
		o.Score = (o.Score*n + l.Score) / (n + 1)
		o.Graded = o.Graded || l.Graded
		o.Labels = append(o.Labels, l)
	}
	o.Yes, o.Tie = o.For > o.Against, o.For == o.Against && o.For > 0
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
	if settled != nil {
		o.Yes, o.Label, o.Tie = settled.Yes, settled.Label, false
		o.Score, o.Graded = settled.Score, o.Graded || settled.Graded
	}
	return o
}

// votes returns the numbers of votes as text.
func (o Opinion) votes() string { return fmt.Sprintf("%d for yes, %d for no", o.For, o.Against) }
