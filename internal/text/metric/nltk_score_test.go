package metric_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"deem/internal/text"
	"deem/internal/text/metric"

	"pgregory.net/rapid"
)

func fields(texts ...string) [][]string {
	var list [][]string
	for _, s := range texts {
		list = append(list, strings.Fields(s))
	}
	return list
}

func TestBLEU(t *testing.T) {
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	for _, tt := range []struct {
		bleu       metric.NLTKBLEU
		response   string
		references [][]string
		want       float64
	}{
		{metric.NLTKBLEU{}, "a b c d e", fields("a b c d e"), 1},
		{metric.NLTKBLEU{}, "x y", fields("a b"), 0},
		{metric.NLTKBLEU{}, "", fields("a b"), 0},
		{metric.NLTKBLEU{Weights: []float64{1}}, "a b", fields("a b c d"), math.Exp(-1)},
		{metric.NLTKBLEU{Weights: []float64{1}}, "a a a", fields("a", "a a b"), 2. / 3}, // clipped by the second
		{metric.NLTKBLEU{Weights: []float64{1}}, "a b c", fields("a", "a b c d e"), 1},  // of two equally close lengths the shorter
		{metric.NLTKBLEU{Smoothing: 1, Weights: third}, "a b c", fields("a b x"), math.Cbrt(2. / 3 * 1 / 2 * .1)},
		{metric.NLTKBLEU{Smoothing: 2, Weights: third}, "a b c", fields("a b x"), math.Cbrt(2. / 3 * 2 / 3 * 1 / 2)},
		{metric.NLTKBLEU{Smoothing: 3, Weights: third}, "a c b", fields("a b x"), math.Cbrt(2. / 3 * 1 / 4 * 1 / 4)},
		{metric.NLTKBLEU{Smoothing: 4, Weights: []float64{.5, .5}}, "a c", fields("a b"), math.Sqrt(1. / 2 * math.Log(2) / 10)},
		{metric.NLTKBLEU{Smoothing: 4, Weights: []float64{.5, .5}}, "a", fields("a"), 1}, // a single word is not smoothed
		{metric.NLTKBLEU{Smoothing: 5, Weights: []float64{1}}, "a b", fields("a c"), (1.5 + .5 + 0) / 3},
		{metric.NLTKBLEU{Smoothing: 6, Weights: third}, "a b c", fields("a b c"), 1},
		{metric.NLTKBLEU{AutoReweigh: true}, "a b", fields("a b"), 1},
		{metric.NLTKBLEU{Smoothing: 1}, "a b", fields("a b"), math.Pow(.1, .5)},
	} {
		got, err := tt.bleu.Sentence(strings.Fields(tt.response), tt.references)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v of %q with %q = %v, %v, want %v", tt.bleu, tt.response, tt.references, got, err, tt.want)
		}
	}
}

// A corpus is scored by its sums, not by the mean of its scores.
func TestBLEUCorpus(t *testing.T) {
	got, err := metric.NLTKBLEU{Weights: []float64{1}}.Corpus(fields("a b c d", "x y"), [][][]string{fields("a b c e"), fields("u v")})
	if err != nil || got != .5 {
		t.Errorf("Corpus = %v, %v, want 0.5", got, err)
	}
}

func TestNLTKBLEUErrors(t *testing.T) {
	one := fields("a b c")
	for name, tt := range map[string]struct {
		bleu       metric.NLTKBLEU
		responses  [][]string
		references [][][]string
	}{
		"no response":         {metric.NLTKBLEU{}, nil, nil},
		"lengths differ":      {metric.NLTKBLEU{}, one, nil},
		"no reference":        {metric.NLTKBLEU{}, one, [][][]string{{}}},
		"no weight":           {metric.NLTKBLEU{Weights: []float64{}}, one, [][][]string{one}},
		"unknown smoothing":   {metric.NLTKBLEU{Smoothing: 8}, one, [][][]string{one}},
		"negative smoothing":  {metric.NLTKBLEU{Smoothing: -1}, one, [][][]string{one}},
		"method 6, 2 weights": {metric.NLTKBLEU{Smoothing: 6, Weights: []float64{.5, .5}}, one, [][][]string{one}},
		"method 6, no match":  {metric.NLTKBLEU{Smoothing: 6}, one, [][][]string{fields("a b d")}},
	} {
		if got, err := tt.bleu.Corpus(tt.responses, tt.references); err == nil {
			t.Errorf("%s: %v, want an error", name, got)
		}
	}
}

// words generates a text of few different words, so that many match.
func drawnWords(t *rapid.T, name string) []string {
	return rapid.SliceOfN(rapid.SampledFrom(strings.Fields("a b C c run runs running hound dog dogs")), 0, 9).Draw(t, name)
}

func TestBLEUProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		response, references := drawnWords(t, "response"), [][]string{drawnWords(t, "one"), drawnWords(t, "two")}
		b := metric.NLTKBLEU{Smoothing: rapid.SampledFrom([]int{0, 1, 2, 3, 4}).Draw(t, "smoothing")}
		s, err := b.Sentence(response, references)
		if err != nil || !(s >= 0 && s <= 1+1e-12) {
			t.Fatalf("%+v of %q with %q = %v, %v", b, response, references, s, err)
		}
		slices.Reverse(references)
		if again, _ := b.Sentence(response, references); again != s {
			t.Fatalf("%+v of %q with %q = %v, and %v the other way round", b, response, references, s, again)
		}
	})
}

// pets returns the synonyms of some stems.
func pets(word string) []string {
	if word == "dog" || word == "hound" {
		return []string{"dog", "hound", "Cad"}
	}
	return []string{word}
}

func TestMETEOR(t *testing.T) {
	full := func(n float64) float64 { return 1 - .5/(n*n*n) } // n words that match in one run
	for _, tt := range []struct {
		response   string
		references [][]string
		synonyms   func(string) []string
		want       float64
	}{
		{"", fields("a"), pets, 0},
		{"a", fields(""), pets, 0},
		{"a", fields("b"), pets, 0},
		{"a", fields("A"), pets, .5},
		{"runs", fields("running"), pets, .5},
		{"hounds", fields("dog"), pets, .5},
		{"hounds", fields("dog"), nil, 0},
		{"dogs", fields("cad"), pets, 0}, // synonyms are capitalized, and texts are not
		{"a b c", fields("x", "a b c"), pets, full(3)},
		{"b a", fields("a b"), pets, .5}, // two runs of one
		// Recall counts nine times as much as precision.
		{"a", fields("a b"), pets, .5 * (1 * .5) / (.9*1 + .1*.5)},
		{"a b", fields("a"), pets, .5 * (.5 * 1) / (.9*.5 + .1*1)},
	} {
		got, err := metric.METEOR(strings.Fields(tt.response), tt.references, tt.synonyms)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("METEOR(%q, %q) = %v, %v, want %v", tt.response, tt.references, got, err, tt.want)
		}
	}
	if _, err := metric.METEOR([]string{"a"}, nil, nil); err == nil {
		t.Error("METEOR without a reference has no error")
	}
}

// TestMETEORAligns compares with a word-by-word alignment like the original's, which is
// quadratic but simple.
func TestMETEORAligns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, want := drawnWords(t, "response"), drawnWords(t, "reference")
		s, err := metric.METEOR(got, [][]string{want}, pets)
		if w := slowMETEOR(got, want); err != nil || math.Abs(s-w) > 1e-12 {
			t.Fatalf("METEOR(%q, %q) = %v, %v, want %v", got, want, s, err, w)
		}
	})
}

func slowMETEOR(response, reference []string) float64 {
	partner := make([]int, len(response)) // 1 + the position in the reference, or 0
	taken := make([]bool, len(reference))
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return text.Lower(a) == text.Lower(b) },
		func(a, b string) bool { return text.Stem(text.Lower(a)) == text.Stem(text.Lower(b)) },
		func(a, b string) bool {
			return slices.Contains(pets(text.Stem(text.Lower(a))), text.Stem(text.Lower(b)))
		},
	} {
		for i := len(response) - 1; i >= 0; i-- {
			for j := len(reference) - 1; j >= 0 && partner[i] == 0; j-- {
				if !taken[j] && same(response[i], reference[j]) {
					partner[i], taken[j] = j+1, true
				}
			}
		}
	}
	matches, chunks := 0., 0.
	for i, p := range partner {
		if p == 0 {
			continue
		}
		matches++
		if i == 0 || partner[i-1] == 0 || partner[i-1] != p-1 {
			chunks++
		}
	}
	if matches == 0 {
		return 0
	}
	p, r := matches/float64(len(response)), matches/float64(len(reference))
	return (1 - .5*math.Pow(chunks/matches, 3)) * p * r / (.9*p + .1*r)
}
