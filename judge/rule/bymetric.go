package rule

import (
	"context"

	"deem"
	"deem/internal/text"
	"deem/internal/text/metric"
)

// A byMetric judge scores how much of a reference is in the response, by a published
// metric.
type byMetric struct {
	name string
	pass *float64
	// score compares a response with one reference or, if the metric takes them
	// together, with all of them.
	score func(response string, references []string) metric.PRF
	// parts says whether the metric has a precision and a recall.
	parts bool
}

var (
	_ deem.Identified = (*byMetric)(nil)
	_ graded          = (*byMetric)(nil)
)

// Name returns the name of the rule.
func (j *byMetric) Name() string { return j.name }

// Identity returns the name and the version of the rule, and the pass mark.
func (j *byMetric) Identity() any { return spec(j.name, j.pass, nil) }

// Judge scores the response.
func (j *byMetric) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	s := j.score(it.Response, it.References)
	v := deem.Verdict{Label: grade(s.F1), Score: min(s.F1, 1)} // Equal texts have a BLEU of 100.00000000000004.
	if j.parts {
		v.Aspects = map[string]float64{"precision": s.Precision, "recall": s.Recall}
	}
	if j.pass != nil {
		ok := v.Score >= *j.pass
		v.Pass = &ok
	}
	return v, nil
}

// full is the lowest score labelled "full". Some metrics give equal texts slightly less
// than 1.
const full = 1 - 1e-8

func grade(score float64) string {
	switch {
	case score >= full:
		return "full"
	case score > 0:
		return "partial"
	}
	return "none"
}

// byBest returns a judge that uses the reference with the best F1.
func byBest(name string, score func(response, reference string) metric.PRF) *byMetric {
	return &byMetric{name: name, parts: true, score: func(response string, references []string) metric.PRF {
		best := score(response, references[0])
		for _, ref := range references[1:] {
			if s := score(response, ref); s.F1 > best.F1 {
				best = s
			}
		}
		return best
	}}
}

func (j *byMetric) withPass(mark float64) deem.Judge {
	with := *j
	with.pass = &mark
	return &with
}

// squadF1 is the harmonic mean of the precision and recall of the normalised words.
func squadF1(response, reference string) metric.PRF {
	return metric.Overlap(text.SQuADWords(response), text.SQuADWords(reference))
}

func rougeN(n int) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGEN(response, reference, n, true) }
}

func rougeL(response, reference string) metric.PRF { return metric.ROUGEL(response, reference, true) }

func rougeLsum(response, reference string) metric.PRF {
	return metric.ROUGELsum(response, reference, true)
}

// pyRougeL is the rouge-l of the Python package rouge. A text without a sentence scores 0.
func pyRougeL(response, reference string) metric.PRF {
	r, err := metric.NewPyRouge(response, reference)
	if err != nil {
		return metric.PRF{}
	}
	return r.L
}

// byF1 returns a judge by a metric that is a single number.
func byF1(name string, score func(response, reference string) float64) *byMetric {
	j := byBest(name, func(response, reference string) metric.PRF {
		return metric.PRF{F1: score(response, reference)}
	})
	j.parts = false
	return j
}

// bleu is a judge by the sentence BLEU of sacreBLEU with all references together, from 0 to 1.
var bleu = &byMetric{name: "bleu", score: func(response string, references []string) metric.PRF {
	return metric.PRF{F1: metric.BLEU(response, references) / 100}
}}
