package rule

import (
	"context"
	"errors"

	"deem"
	"deem/internal/text/metric"
	"deem/internal/text/nltk"
)

// nltkMetrics lists the rules that stand on NLTK, in the order in which they are shown.
var nltkMetrics = []entry{
	// Without smoothing NLTK gives next to nothing to a response that has no four words in a
	// row in common with a reference, as no short answer has. Case matters.
	{&byMetric{name: "bleu/nltk", score: func(response string, references []string) metric.PRF {
		return one(nltk.BLEU{Smoothing: 1}.Sentence(nltk.Words(response), tokenized(references)))
	}}, "sentence BLEU of NLTK over the words of word_tokenize, smoothing method 1, all references at once"},
	{meteorBy("meteor/stem", nil), "METEOR of NLTK over the words of word_tokenize, without synonyms: equal words and equal stems"},
	{byF1("mem0/f1", metric.Mem0F1), "the F1 in result files of Mem0: words in common, each once"},
	{byF1("mem0/bleu1", metric.Mem0BLEU1), "the BLEU in result files of Mem0: BLEU-1 of NLTK in lower case"},
}

// A Thesaurus knows which words mean the same. *nltk.WordNet of deem/text/nltk is
// one. It must be safe for concurrent use.
type Thesaurus interface {
	// Name identifies the thesaurus, contents included: two of one name give the
	// same synonyms.
	Name() string

	// Synonyms returns the words that share a meaning with the word, and the word.
	Synonyms(word string) []string
}

var _ Thesaurus = (*nltk.WordNet)(nil)

const meteorDoc = "METEOR of NLTK with the best reference, over the words of word_tokenize: " +
	"equal words, equal stems, and synonyms of WordNet, which must be installed"

// A meteor judge looks synonyms up.
type meteor struct {
	*byMetric
	thesaurus Thesaurus // nil has the judge explain what it lacks
}

var (
	_ deem.Identified = (*meteor)(nil)
	_ graded          = (*meteor)(nil)
)

// METEOR returns the judge "meteor", the METEOR of NLTK 3.8 with the best reference:
// words match that are equal, that have the same Porter stem, or that are synonyms.
// With WordNet 3.0 as the thesaurus the scores are those of NLTK. Texts are cut by
// word_tokenize, as most programs do that call it.
//
// Even equal texts score a little below 1, and a single equal word scores .5: that is
// the penalty for scattered matches, which counts one run of matches as one.
func METEOR(t Thesaurus) deem.Judge {
	j := &meteor{thesaurus: t, byMetric: meteorBy("meteor", nil)}
	if t != nil {
		j.byMetric = meteorBy("meteor", t.Synonyms)
	}
	return j
}

// NeedsThesaurus reports whether the rule of that name needs a thesaurus. The one that
// [Named] returns has none, and says so for each item; [METEOR] makes one that has.
func NeedsThesaurus(name string) bool {
	j, _ := Named(name)
	_, ok := j.(*meteor)
	return ok
}

// Identity returns the name and the version of the rule, the thesaurus and the pass
// mark.
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

// Judge scores the response, if there is a thesaurus to look into.
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
		return one(nltk.METEOR(nltk.Words(response), tokenized(references), synonyms))
	}}
}

// tokenized returns the words of each text.
func tokenized(texts []string) [][]string {
	list := make([][]string, len(texts))
	for i, s := range texts {
		list[i] = nltk.Words(s)
	}
	return list
}

// one makes a score of a metric that is one number.
func one(score float64, err error) metric.PRF {
	if err != nil {
		panic("rule: " + err.Error()) // There are references, and the settings are ours.
	}
	return metric.PRF{F1: score}
}
