package rule

import (
	"context"
	"errors"
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

	options map[string]string // part of the identity
	missing error             // says what the rule lacks, if it cannot judge
}

var (
	_ deem.Identified = (*byMetric)(nil)
	_ graded          = (*byMetric)(nil)
)

// Name returns the name of the rule.
func (j *byMetric) Name() string { return j.name }

// Identity returns the name and the version of the rule, and the pass mark.
func (j *byMetric) Identity() any { return spec(j.name, j.pass, j.options) }

// Judge scores the response.
func (j *byMetric) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	if j.missing != nil {
		return deem.Verdict{}, j.missing
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
		return one(s.Score/100, err)
	}}
}

// chrF returns a judge by the sentence chrF2 of sacreBLEU with the best reference, from 0 to 1.
func chrF(name string, m metric.ChrF) *byMetric {
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		s, err := m.Sentence(response, references)
		return one(s/100, err)
	}}
}

// one converts a single number to a metric.PRF.
func one(score float64, err error) metric.PRF {
	if err != nil {
		panic("rule: " + err.Error()) // There are references, and the settings are fixed.
	}
	return metric.PRF{F1: score}
}

// A Thesaurus returns synonyms, for example those of WordNet. It must be
// safe for concurrent use.
type Thesaurus interface {
	// Name identifies the thesaurus and its contents: two with the same name give the
	// same synonyms.
	Name() string

	// Synonyms returns the words that share a meaning with the word, including the word
	// itself.
	Synonyms(word string) []string
}

var _ Thesaurus = (*metric.WordNet)(nil)

// METEOR returns the judge "meteor", the METEOR of NLTK 3.8 with the best reference: words
// match if they are equal, have the same Porter stem, or are synonyms. With WordNet 3.0 as
// the thesaurus the scores are those of NLTK. Texts are split by word_tokenize, like most
// programs that use METEOR. Without a thesaurus it returns an error for each item.
//
// Even equal texts score slightly below 1, and a single equal word scores .5, because of
// the penalty for scattered matches, which counts a run of matches as one.
func METEOR(t Thesaurus) deem.Judge {
	if t == nil {
		return &byMetric{name: "meteor", missing: deem.WithHint(errors.New(`judge "meteor" has no WordNet to look synonyms up in`),
			"name a folder with the database files of WordNet 3.0, or take the judge meteor/stem, which needs none")}
	}
	j := meteorBy("meteor", t.Synonyms)
	j.options = map[string]string{"thesaurus": t.Name()}
	return j
}

// NeedsThesaurus reports whether the named rule needs a thesaurus. The rule that [Named]
// returns has none and returns an error for each item; use [METEOR] to make one with a
// thesaurus.
func NeedsThesaurus(name string) bool {
	j, _ := Named(name)
	m, ok := j.(*byMetric)
	return ok && m.missing != nil
}

// meteorBy returns a judge by METEOR.
func meteorBy(name string, synonyms func(word string) []string) *byMetric {
	return &byMetric{name: name, score: func(response string, references []string) metric.PRF {
		return one(metric.METEOR(metric.NLTKWords(response), tokenized(references), synonyms))
	}}
}

// tokenized returns the words of each text.
func tokenized(texts []string) [][]string {
	list := make([][]string, len(texts))
	for i, s := range texts {
		list[i] = metric.NLTKWords(s)
	}
	return list
}
