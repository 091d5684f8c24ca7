package rule

import (
	"context"
	"slices"

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

// metrics returns the rules by metric, in display order.
func metrics() []entry {
	return []entry{
		// The score is the F1, the aspects are precision and recall with the best
		// reference, and the label is "full", "partial" or "none".
		{byBest("f1", squadF1), "SQuAD v1.1 token F1 with the best reference"},
		{squad2, "SQuAD v2.0 token F1, in which an empty reference wants an empty response"},
		{byBest("f1/zh", metric.F1Zh), "LongBench's token F1 for Chinese, over the words of jieba"},
		{byBest("f1/locomo", metric.LoCoMoStems), "LoCoMo's token F1, over Porter stems"},
		{byBest("rouge1", rougeN(1, true)), "ROUGE-1 of rouge_score with stemmer: words in common"},
		{byBest("rouge2", rougeN(2, true)), "ROUGE-2 of rouge_score with stemmer: pairs of words in common"},
		{byBest("rougeL", rougeL(true)).withPass(.4), "ROUGE-L of rouge_score with stemmer: longest common subsequence; passes at 0.4"},
		{byBest("rougeLsum", rougeLsum(true)), "ROUGE-Lsum of rouge_score with stemmer: ROUGE-L by lines"},
		{byBest("rouge1/plain", rougeN(1, false)), "rouge1 without stemmer"},
		{byBest("rouge2/plain", rougeN(2, false)), "rouge2 without stemmer"},
		{byBest("rougeL/plain", rougeL(false)), "rougeL without stemmer, and without a pass mark"},
		{byBest("rougeLsum/plain", rougeLsum(false)), "rougeLsum without stemmer"},
		{pyRouge("rouge-1", func(r metric.PyRouge) metric.PRF { return r.One }), "rouge-1 of the Python package rouge: distinct words in common"},
		{pyRouge("rouge-2", func(r metric.PyRouge) metric.PRF { return r.Two }), "rouge-2 of the Python package rouge: distinct pairs of words in common"},
		{pyRouge("rouge-l", func(r metric.PyRouge) metric.PRF { return r.L }), "rouge-l of the Python package rouge, the ROUGE of LongBench"},
		{byF1("rouge-l/zh", func(response, reference string) float64 { return metric.LongBenchROUGEZh(response, reference, false) }), "rouge-l over the words of jieba, LongBench's ROUGE for Chinese"},
		{bleu("bleu", "13a").withPass(.3), "sentence BLEU of sacreBLEU, tokenizer 13a, all references at once; passes at 0.3"},
		{bleu("bleu/zh", "zh"), "sentence BLEU of sacreBLEU, tokenizer zh, all references at once"},
		{chrF("chrf", metric.ChrF{}), "sentence chrF of sacreBLEU: character n-grams, for any script"},
		{chrF("chrf++", metric.ChrF{WordOrder: 2}), "sentence chrF++ of sacreBLEU: n-grams of characters and words"},
		// This is the ratio of python-Levenshtein.
		{byF1("edit", text.InDelRatio), "share of characters that stay when the response is edited into a reference"},
	}
}

// Name returns the name of the rule.
func (j *byMetric) Name() string { return j.name }

// Identity returns the name and the version of the rule, and the pass mark.
func (j *byMetric) Identity() any {
	return spec(j.name, j.pass, nil)
}

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

// withPass returns the rule with a pass mark.
func (j *byMetric) withPass(mark float64) deem.Judge {
	with := *j
	with.pass = &mark
	return &with
}

// squadF1 is the harmonic mean of the precision and recall of the normalised words.
func squadF1(response, reference string) metric.PRF {
	return metric.Overlap(text.SQuADWords(response), text.SQuADWords(reference))
}

// squad2 differs from "f1" if a text has no words left: an empty response is correct if
// every reference is empty, and empty references are ignored if there are others.
var squad2 = &byMetric{name: "f1/squad2", parts: true, score: func(response string, references []string) metric.PRF {
	wordless := func(s string) bool { return len(text.SQuADWords(s)) == 0 }
	references = slices.DeleteFunc(slices.Clone(references), wordless)
	switch {
	case len(references) > 0:
		return byBest("", squadF1).score(response, references)
	case wordless(response):
		return metric.PRF{Precision: 1, Recall: 1, F1: 1}
	}
	return metric.PRF{}
}}

func rougeN(n int, stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGEN(response, reference, n, stem) }
}

func rougeL(stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGEL(response, reference, stem) }
}

func rougeLsum(stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGELsum(response, reference, stem) }
}

// pyRouge returns a judge by one of the scores of the Python package rouge. A text without
// a sentence scores 0.
func pyRouge(name string, pick func(metric.PyRouge) metric.PRF) *byMetric {
	return byBest(name, func(response, reference string) metric.PRF {
		r, err := metric.NewPyRouge(response, reference, true)
		if err != nil {
			return metric.PRF{}
		}
		return pick(r)
	})
}

// byF1 returns a judge by a metric that is a single number.
func byF1(name string, score func(response, reference string) float64) *byMetric {
	j := byBest(name, func(response, reference string) metric.PRF {
		return metric.PRF{F1: score(response, reference)}
	})
	j.parts = false
	return j
}

// bleu returns a judge by the sentence BLEU of sacreBLEU with effective order and all
// references together, from 0 to 1.
func bleu(name, tokenize string) *byMetric {
	m := metric.BLEU{Tokenize: tokenize, EffectiveOrder: true}
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		s, err := m.Sentence(response, references)
		if err != nil {
			panic("rule: " + err.Error()) // There are references, and the settings are fixed.
		}
		return metric.PRF{F1: s.Score / 100}
	}}
}

// chrF returns a judge by the sentence chrF2 of sacreBLEU with the best reference, from 0 to 1.
func chrF(name string, m metric.ChrF) *byMetric {
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		s, err := m.Sentence(response, references)
		if err != nil {
			panic("rule: " + err.Error()) // There are references.
		}
		return metric.PRF{F1: s / 100}
	}}
}
