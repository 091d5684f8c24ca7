package rule

import (
	"context"

	"deem"
	"deem/internal/text"
	"deem/internal/text/metric"
)

// tokenF1 scores the overlap of words.
type tokenF1 struct {
	name  string
	empty bool // two empty texts are equal, as in SQuAD v2.0
	pass  *float64
}

var _ deem.Identified = (*tokenF1)(nil)

// TokenF1 returns the judge "f1", the token F1 of SQuAD v1.1: the harmonic mean of
// the precision and the recall of the normalised words, for the reference that
// gives most. The score is the F1, the aspects are "precision" and "recall" with
// that reference, and the label is "full", "partial" or "none".
func TokenF1() deem.Judge { return &tokenF1{name: "f1"} }

// TokenF1SQuAD2 returns the judge "f1/squad2", the token F1 of SQuAD v2.0. It
// differs from [TokenF1] where a text has no words left: an empty response is
// fully right when every reference is empty, and references that are empty beside
// others do not count.
func TokenF1SQuAD2() deem.Judge { return &tokenF1{name: "f1/squad2", empty: true} }

// Name returns the name of the rule.
func (j *tokenF1) Name() string { return j.name }

// Identity returns the name and the version of the rule, and the pass mark.
func (j *tokenF1) Identity() any {
	return spec(j.name, 1, j.pass, nil)
}

func (j *tokenF1) withPass(mark float64) deem.Judge {
	with := *j
	with.pass = &mark
	return &with
}

// Judge scores the response with its best reference.
func (j *tokenF1) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	response := text.SQuADWords(it.Response)
	var best metric.PRF
	for i, ref := range j.references(it.References) {
		if s := j.compare(response, ref); i == 0 || s.F1 > best.F1 {
			best = s
		}
	}
	return j.verdict(best), nil
}

func (j *tokenF1) verdict(s metric.PRF) deem.Verdict {
	v := deem.Verdict{
		Label:   "partial",
		Score:   s.F1,
		Aspects: map[string]float64{"precision": s.Precision, "recall": s.Recall},
	}
	switch s.F1 {
	case 0:
		v.Label = "none"
	case 1:
		v.Label = "full"
	}
	if j.pass != nil {
		ok := s.F1 >= *j.pass
		v.Pass = &ok
	}
	return v
}

// references returns the words of each reference that counts.
func (j *tokenF1) references(refs []string) [][]string {
	var list [][]string
	for _, ref := range refs {
		if w := text.SQuADWords(ref); len(w) > 0 || !j.empty {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		list = [][]string{nil}
	}
	return list
}

// compare returns what two lists of words have in common.
func (j *tokenF1) compare(response, reference []string) metric.PRF {
	if j.empty && len(response) == 0 && len(reference) == 0 {
		return metric.PRF{Precision: 1, Recall: 1, F1: 1}
	}
	return metric.Overlap(response, reference)
}
