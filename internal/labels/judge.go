package labels

import (
	"context"
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
	case o.otherResponse(it.Response):
		return deem.Verdict{}, deem.Failf(deem.Input, "the label for item %q is about another response", it.ID)
	case o.Tie:
		return deem.Verdict{}, deem.Failf(deem.Unsure, "the annotators are evenly split: %s", o.votes())
	}
	return o.verdict(), nil
}

// otherResponse reports whether an annotator labelled another response than the given one.
func (o Opinion) otherResponse(response string) bool {
	for _, l := range o.Labels {
		if l.Other(response) {
			return true
		}
	}
	return false
}

// Other reports whether the label is about another response than the given one. Surrounding
// white space is ignored, because editors change it.
func (l Label) Other(response string) bool {
	return l.Response != nil && strings.TrimSpace(unguard(*l.Response)) != strings.TrimSpace(response)
}

// verdict returns the opinion as a verdict.
func (o Opinion) verdict() deem.Verdict {
	if len(o.Labels) == 1 {
		l := o.Labels[0]
		v := deem.Verdict{Label: l.Label, Score: l.Score, Reason: l.Reason, Confidence: l.Confidence}
		if l.Graded {
			v.Pass = &l.Yes
		}
		return v
	}
	v := deem.Verdict{Label: "no", Reason: o.votes()}
	if o.Yes {
		v.Label, v.Score = "yes", 1
	}
	if o.Graded {
		yes := o.Yes
		v.Score, v.Pass = o.Score, &yes
	}
	return v
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

// unguard undoes Guard.
func unguard(text string) string {
	if rest, ok := strings.CutPrefix(text, "'"); ok && Guard(rest) == text {
		return rest
	}
	return text
}
