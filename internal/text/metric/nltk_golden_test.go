package metric_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"deem/internal/test/golden"
	"deem/internal/text/metric"
)

// nltkMetrics are checked against the results of NLTK 3.8.
var nltkMetrics = map[string]golden.Metric{
	"nltk_word_tokenize": golden.Of(func(in struct{ Text string }) (any, error) {
		return map[string]any{
			"sentences":            metric.NLTKSentences(in.Text),
			"tokens":               metric.NLTKWords(in.Text),
			"tokens_preserve_line": metric.NLTKLineWords(in.Text),
		}, nil
	}),
	"nltk_sentence_bleu": golden.Of(func(in nltkInput) (any, error) {
		b, err := in.metric()
		if err != nil {
			return nil, err
		}
		return b.Sentence(in.Hypothesis, in.References)
	}),
	"nltk_corpus_bleu": golden.Of(func(in nltkInput) (any, error) {
		b, err := in.metric()
		if err != nil {
			return nil, err
		}
		return b.Corpus(in.Hypotheses, in.ListOfReferences)
	}),
}

// TestGoldenWordNet compares METEOR and its synonyms with NLTK 3.8.
func TestGoldenWordNet(t *testing.T) {
	wn := wordNet(t)
	golden.Test(t, map[string]golden.Metric{
		"nltk_meteor": golden.Of(func(in nltkInput) (any, error) {
			return metric.METEOR(in.Hypothesis, in.References, wn.Synonyms)
		}),
		"wordnet_synonyms": golden.Of(func(in struct{ Word string }) (any, error) {
			return wn.Synonyms(in.Word), nil
		}),
	}, golden.Options{})
}

type nltkInput struct {
	References       [][]string
	Hypothesis       []string
	ListOfReferences [][][]string `json:"list_of_references"`
	Hypotheses       [][]string
	Weights          []float64
	Smoothing        string
	AutoReweigh      bool `json:"auto_reweigh"`
}

func (in nltkInput) metric() (metric.NLTKBLEU, error) {
	method, err := strconv.Atoi(strings.TrimPrefix(in.Smoothing, "method"))
	return metric.NLTKBLEU{Weights: in.Weights, Smoothing: method, AutoReweigh: in.AutoReweigh}, err
}

// openWordNet reads the database once.
var openWordNet = sync.OnceValues(func() (*metric.WordNet, error) { return metric.OpenWordNet(wordNetDir()) })

// wordNetDir returns the folder of the database, if it exists.
func wordNetDir() string {
	if dir := os.Getenv("DEEM_WORDNET"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", ".tools", "wordnet")
}

// wordNet returns the database that scripts/wordnet.sh downloads. If it is missing the test
// is skipped, unless DEEM_GOLDEN names vectors that need it: then the test fails.
func wordNet(t testing.TB) *metric.WordNet {
	t.Helper()
	wn, err := openWordNet()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("DEEM_GOLDEN") == "" {
		t.Skipf("WordNet is missing: %v; scripts/wordnet.sh .tools/wordnet downloads it", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wn
}
