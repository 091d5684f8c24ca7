package rule

import (
	"context"
	"errors"

	"deem"
	"deem/internal/text/metric"
)

// nltkMetrics returns the rules based on NLTK, in display order.
func nltkMetrics() []entry {
	return []entry{
		// Without smoothing, NLTK gives almost 0 to a response that does not share four
		// consecutive words with a reference, which includes every short answer. Case
		// matters.
		{&byMetric{name: "bleu/nltk", score: func(response string, references []string) metric.PRF {
			return one(metric.NLTKBLEU{Smoothing: 1}.Sentence(metric.NLTKWords(response), tokenized(references)))
		}}, "sentence BLEU of NLTK over the words of word_tokenize, smoothing method 1, all references at once"},
		{meteorBy("meteor/stem", nil), "METEOR of NLTK over the words of word_tokenize, without synonyms: equal words and equal stems"},
		{byF1("mem0/f1", metric.Mem0F1), "the F1 in result files of Mem0: words in common, each once"},
		{byF1("mem0/bleu1", metric.Mem0BLEU1), "the BLEU in result files of Mem0: BLEU-1 of NLTK in lower case"},
	}
}

// A Thesaurus returns synonyms. *nltk.WordNet of deem/text/nltk implements it. It must be
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

const meteorDoc = "METEOR of NLTK with the best reference, over the words of word_tokenize: " +
	"equal words, equal stems, and synonyms of WordNet, which must be installed"

// A meteor judge is METEOR with synonyms.
type meteor struct {
	*byMetric
	thesaurus Thesaurus // if nil, the judge returns an error that says what is missing
}

var (
	_ deem.Identified = (*meteor)(nil)
	_ graded          = (*meteor)(nil)
)

// METEOR returns the judge "meteor", the METEOR of NLTK 3.8 with the best reference: words
// match if they are equal, have the same Porter stem, or are synonyms. With WordNet 3.0 as
// the thesaurus the scores are those of NLTK. Texts are split by word_tokenize, like most
// programs that use METEOR.
//
// Even equal texts score slightly below 1, and a single equal word scores .5, because of
// the penalty for scattered matches, which counts a run of matches as one.
func METEOR(t Thesaurus) deem.Judge {
	j := &meteor{thesaurus: t, byMetric: meteorBy("meteor", nil)}
	if t != nil {
		j.byMetric = meteorBy("meteor", t.Synonyms)
	}
	return j
}

// NeedsThesaurus reports whether the named rule needs a thesaurus. The rule that [Named]
// returns has none and returns an error for each item; use [METEOR] to make one with a
// thesaurus.
func NeedsThesaurus(name string) bool {
	j, _ := Named(name)
	_, ok := j.(*meteor)
	return ok
}

// Identity returns the name and version of the rule, the thesaurus and the pass mark.
func (j *meteor) Identity() any {
	if j.thesaurus == nil {
		return spec(j.name, j.pass, nil)
	}
	return spec(j.name, j.pass, map[string]string{"thesaurus": j.thesaurus.Name()})
}

func (j *meteor) withPass(mark float64) deem.Judge {
	with := *j.byMetric
	with.pass = &mark
	return &meteor{&with, j.thesaurus}
}

// Judge scores the response. Without a thesaurus it returns an error.
func (j *meteor) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := ready(ctx, it); err != nil {
		return deem.Verdict{}, err
	}
	if j.thesaurus == nil {
		return deem.Verdict{}, deem.WithHint(errors.New(`judge "meteor" has no WordNet to look synonyms up in`),
			"name a folder with the database files of WordNet 3.0, or take the judge meteor/stem, which needs none")
	}
	return j.byMetric.Judge(ctx, it)
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

// one converts a single number to a metric.PRF.
func one(score float64, err error) metric.PRF {
	if err != nil {
		panic("rule: " + err.Error()) // There are references, and the settings are fixed.
	}
	return metric.PRF{F1: score}
}
