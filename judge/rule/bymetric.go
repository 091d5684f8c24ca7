package rule

import (
	"context"

	"deem"
	"deem/internal/text"
	"deem/internal/text/metric"
)

// A byMetric judge says how much of a reference is in the response, by a published
// metric.
type byMetric struct {
	name string
	pass *float64
	// score compares a response with one reference or, where the metric takes
	// them together, with all.
	score func(response string, references []string) metric.PRF
	// parts says whether the metric has a precision and a recall to show.
	parts bool
}

var (
	_ deem.Identified = (*byMetric)(nil)
	_ graded          = (*byMetric)(nil)
)

// metrics lists the rules by metric, in the order in which they are shown.
func metrics() []entry {
	return []entry{
		{"f1/zh", "LongBench's token F1 for Chinese, over the words of jieba", TokenF1Zh},
		{"f1/locomo", "LoCoMo's token F1, over Porter stems", TokenF1LoCoMo},
		{"rouge1", "ROUGE-1 of rouge_score with stemmer: words in common", ROUGE1},
		{"rouge2", "ROUGE-2 of rouge_score with stemmer: pairs of words in common", ROUGE2},
		{"rougeL", "ROUGE-L of rouge_score with stemmer: longest common subsequence; passes at 0.4", ROUGEL},
		{"rougeLsum", "ROUGE-Lsum of rouge_score with stemmer: ROUGE-L by lines", ROUGELsum},
		{"rouge1/plain", "rouge1 without stemmer", plain("rouge1/plain", rougeN(1, false))},
		{"rouge2/plain", "rouge2 without stemmer", plain("rouge2/plain", rougeN(2, false))},
		{"rougeL/plain", "rougeL without stemmer, and without a pass mark", plain("rougeL/plain", rougeL(false))},
		{"rougeLsum/plain", "rougeLsum without stemmer", plain("rougeLsum/plain", rougeLsum(false))},
		{"rouge-1", "rouge-1 of the Python package rouge: distinct words in common", pyRouge1},
		{"rouge-2", "rouge-2 of the Python package rouge: distinct pairs of words in common", pyRouge2},
		{"rouge-l", "rouge-l of the Python package rouge, the ROUGE of LongBench", pyRougeL},
		{"rouge-l/zh", "rouge-l over the words of jieba, LongBench's ROUGE for Chinese", pyRougeLZh},
		{"bleu", "sentence BLEU of sacreBLEU, tokenizer 13a, all references at once; passes at 0.3", BLEU},
		{"bleu/zh", "sentence BLEU of sacreBLEU, tokenizer zh, all references at once", BLEUZh},
		{"chrf", "sentence chrF of sacreBLEU: character n-grams, for any script", ChrF},
		{"chrf++", "sentence chrF++ of sacreBLEU: n-grams of characters and words", ChrFWords},
		{"edit", "share of characters that stay when the response is edited into a reference", Edit},
	}
}

// Name returns the name of the rule.
func (j *byMetric) Name() string { return j.name }

// Identity returns the name and the version of the rule, and the pass mark.
func (j *byMetric) Identity() any {
	return spec(j.name, 1, j.pass, nil)
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

// full is the score from which a response has all of the reference. Some metrics
// give equal texts a little less than 1.
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

// byBest returns a judge that takes the reference with the best F1.
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

// plain returns what makes a judge that needs no constructor of its own.
func plain(name string, score func(response, reference string) metric.PRF) func() deem.Judge {
	return func() deem.Judge { return byBest(name, score) }
}

// TokenF1Zh returns the judge "f1/zh", the Chinese token F1 of LongBench: as [TokenF1],
// but over the words that jieba sees, and without Chinese punctuation.
func TokenF1Zh() deem.Judge { return byBest("f1/zh", metric.F1Zh) }

// TokenF1LoCoMo returns the judge "f1/locomo", the token F1 of LoCoMo: over Porter
// stems, so that "runs" meets "running", and without "and".
func TokenF1LoCoMo() deem.Judge { return byBest("f1/locomo", metric.LoCoMoStems) }

// ROUGE1 returns the judge "rouge1", the ROUGE-1 of rouge_score with its stemmer: the
// overlap of words.
func ROUGE1() deem.Judge { return byBest("rouge1", rougeN(1, true)) }

// ROUGE2 returns the judge "rouge2", the ROUGE-2 of rouge_score with its stemmer: the
// overlap of pairs of words.
func ROUGE2() deem.Judge { return byBest("rouge2", rougeN(2, true)) }

// ROUGEL returns the judge "rougeL", the ROUGE-L of rouge_score with its stemmer: the
// longest common subsequence of words. The pass mark is 0.4.
func ROUGEL() deem.Judge { return byBest("rougeL", rougeL(true)).withPass(.4) }

// ROUGELsum returns the judge "rougeLsum", the summary-level ROUGE-L of rouge_score
// with its stemmer, in which each line is a sentence.
func ROUGELsum() deem.Judge { return byBest("rougeLsum", rougeLsum(true)) }

func rougeN(n int, stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGEN(response, reference, n, stem) }
}

func rougeL(stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGEL(response, reference, stem) }
}

func rougeLsum(stem bool) func(response, reference string) metric.PRF {
	return func(response, reference string) metric.PRF { return metric.ROUGELsum(response, reference, stem) }
}

// pyRouge returns a judge by one of the scores of the Python package rouge. A text
// without a sentence has nothing in common with any.
func pyRouge(name string, pick func(metric.PyRouge) metric.PRF) *byMetric {
	return byBest(name, func(response, reference string) metric.PRF {
		r, err := metric.NewPyRouge(response, reference, true)
		if err != nil {
			return metric.PRF{}
		}
		return pick(r)
	})
}

func pyRouge1() deem.Judge {
	return pyRouge("rouge-1", func(r metric.PyRouge) metric.PRF { return r.One })
}

func pyRouge2() deem.Judge {
	return pyRouge("rouge-2", func(r metric.PyRouge) metric.PRF { return r.Two })
}

func pyRougeL() deem.Judge {
	return pyRouge("rouge-l", func(r metric.PyRouge) metric.PRF { return r.L })
}

func pyRougeLZh() deem.Judge {
	return byF1("rouge-l/zh", func(response, reference string) float64 {
		return metric.LongBenchROUGEZh(response, reference, false)
	})
}

// byF1 returns a judge by a metric that is one number.
func byF1(name string, score func(response, reference string) float64) *byMetric {
	j := byBest(name, func(response, reference string) metric.PRF {
		return metric.PRF{F1: score(response, reference)}
	})
	j.parts = false
	return j
}

// BLEU returns the judge "bleu", the sentence BLEU of sacreBLEU with effective order and
// all references at once, from 0 to 1. The pass mark is 0.3.
func BLEU() deem.Judge { return bleu("bleu", "13a").withPass(.3) }

// BLEUZh returns the judge "bleu/zh", which differs from [BLEU] in that each Chinese
// character is a word, and in that it has no pass mark.
func BLEUZh() deem.Judge { return bleu("bleu/zh", "zh") }

// bleu returns a judge by sentence BLEU with one of sacreBLEU's tokenizers.
func bleu(name, tokenize string) *byMetric {
	m := metric.BLEU{Tokenize: tokenize, EffectiveOrder: true}
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		s, err := m.Sentence(response, references)
		if err != nil {
			panic("rule: " + err.Error()) // There are references, and the settings are ours.
		}
		return metric.PRF{F1: s.Score / 100}
	}}
}

// ChrF returns the judge "chrf", the sentence chrF2 of sacreBLEU with the best
// reference, from 0 to 1. It needs no words, so it suits any script.
func ChrF() deem.Judge { return chrF("chrf", metric.ChrF{}) }

// ChrFWords returns the judge "chrf++", which adds n-grams of up to two words to those of
// [ChrF].
func ChrFWords() deem.Judge { return chrF("chrf++", metric.ChrF{WordOrder: 2}) }

func chrF(name string, m metric.ChrF) *byMetric {
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		s, err := m.Sentence(response, references)
		if err != nil {
			panic("rule: " + err.Error()) // There are references.
		}
		return metric.PRF{F1: s / 100}
	}}
}

// Edit returns the judge "edit": the share of characters that stay when the response is
// turned into the reference by insertions and deletions. It is the ratio of
// python-Levenshtein.
func Edit() deem.Judge { return byF1("edit", text.InDelRatio) }
