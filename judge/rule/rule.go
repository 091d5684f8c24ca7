// Package rule provides judges that do not use a model.
//
// They are free, instant and repeatable. Use them to score short and literal references, as
// a baseline for a model, and as the first stage of a cascade. The best one to start with is
// in package match; [Named] returns those of this package. "exact", "contains" and "f1" are
// the classics, exactly as published; so are "rougeL", "bleu" and others, which
// measure how much of the reference is in the response, not whether the response is correct.
// [Names] lists them, and [Doc] describes one.
//
// Instructions hidden in a response have no effect on a rule.
package rule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deem"
	"deem/internal/text"
	"deem/internal/text/metric"
	"deem/judge"
)

// spec returns the spec of a rule. The version is increased whenever verdicts may change.
func spec(name string, pass *float64, options map[string]string) judge.Spec {
	return judge.Spec{Kind: judge.KindRule, Name: name, Version: 1, Pass: pass, Options: options}
}

// An entry is a rule with its description.
type entry struct {
	deem.Judge
	doc string
}

// table lists every rule, in display order. [text.SQuAD] is the normalisation of SQuAD v1.1.
var table = sync.OnceValue(func() []entry {
	return []entry{
		{Exact(), "the response equals a reference, white space around it aside"},
		{&literal{name: "exact/squad", yes: "match", no: "differ", normal: text.SQuAD, meets: equal}, "the response equals a reference after SQuAD v1.1 normalisation"},
		{Contains(), "a reference occurs in the response as whole words after SQuAD v1.1 normalisation"},
		// Published studies use it to check that "the answer contains the gold"; it finds
		// "4" in "1947".
		{&literal{name: "contains/text", yes: "contained", no: "missing", normal: text.SQuAD, meets: containsText}, "a reference occurs anywhere in the response after SQuAD v1.1 normalisation, also within a word"},

		// The score is the F1, the aspects are precision and recall with the best
		// reference, and the label is "full", "partial" or "none".
		{byBest("f1", squadF1), "SQuAD v1.1 token F1 with the best reference"},
		{byBest("f1/zh", metric.F1Zh), "LongBench's token F1 for Chinese, over the words of jieba"},
		{byBest("f1/locomo", metric.LoCoMoStems), "LoCoMo's token F1, over Porter stems"},
		{byBest("rouge1", rougeN(1)), "ROUGE-1 of rouge_score with stemmer: words in common"},
		{byBest("rouge2", rougeN(2)), "ROUGE-2 of rouge_score with stemmer: pairs of words in common"},
		{byBest("rougeL", rougeL).withPass(.4), "ROUGE-L of rouge_score with stemmer: longest common subsequence; passes at 0.4"},
		{byBest("rougeLsum", rougeLsum), "ROUGE-Lsum of rouge_score with stemmer: ROUGE-L by lines"},
		{byBest("rouge-l", pyRougeL), "rouge-l of the Python package rouge, the ROUGE of LongBench"},
		{byF1("rouge-l/zh", func(response, reference string) float64 { return metric.LongBenchROUGEZh(response, reference, false) }), "rouge-l over the words of jieba, LongBench's ROUGE for Chinese"},
		{bleu.withPass(.3), "sentence BLEU of sacreBLEU, tokenizer 13a, all references at once; passes at 0.3"},
		// This is the ratio of python-Levenshtein.
		{byF1("edit", text.InDelRatio), "share of characters that stay when the response is edited into a reference"},

		{byF1("mem0/f1", metric.Mem0F1), "the F1 in result files of Mem0: words in common, each once"},
		{byF1("mem0/bleu1", metric.Mem0BLEU1), "the BLEU in result files of Mem0: BLEU-1 of NLTK in lower case"},
		{Semantic(nil), semanticDoc},
	}
})

// find returns the index of a rule in the table, or -1.
func find(name string) int {
	return slices.IndexFunc(table(), func(e entry) bool { return e.Name() == name })
}

// Named returns the named rule, and reports whether it exists. "semantic" has no embedder and
// returns an error for each item; [Semantic] returns it with one.
func Named(name string) (deem.Judge, bool) {
	if i := find(name); i >= 0 {
		return table()[i].Judge, true
	}
	return nil, false
}

// NeedsEmbedder reports whether the named rule needs an embedder.
func NeedsEmbedder(name string) bool {
	j, _ := Named(name)
	_, ok := j.(*semantic)
	return ok
}

// Names returns the names of all rules.
func Names() []string {
	var names []string
	for _, e := range table() {
		names = append(names, e.Name())
	}
	return names
}

// Doc describes the named rule in one line. It is "" if the rule does not exist.
func Doc(name string) string {
	if i := find(name); i >= 0 {
		return table()[i].doc
	}
	return ""
}

// A graded rule returns a score that can have a pass mark.
type graded interface {
	deem.Judge
	withPass(mark float64) deem.Judge
}

// WithPass returns the rule j with a pass mark from 0 to 1: its verdicts say whether the
// score reaches the mark. Only rules with a graded score accept one.
func WithPass(j deem.Judge, mark float64) (deem.Judge, error) {
	g, ok := j.(graded)
	if !ok {
		var names []string
		for _, e := range table() {
			if _, ok := e.Judge.(graded); ok {
				names = append(names, e.Name())
			}
		}
		return nil, deem.WithHint(fmt.Errorf("judge %q takes no pass mark", j.Name()),
			"the judges with a graded score are %s", strings.Join(names, ", "))
	}
	if !(mark >= 0 && mark <= 1) { // written like this to reject NaN too
		return nil, fmt.Errorf("pass mark %v of judge %q is not between 0 and 1", mark, j.Name())
	}
	return g.withPass(mark), nil
}

// ready returns an error if the item cannot be compared with references: ctx is done, or
// there are none.
func ready(ctx context.Context, it deem.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(it.References) == 0 {
		return deem.Failf(deem.Input, "no reference to compare with")
	}
	return nil
}
