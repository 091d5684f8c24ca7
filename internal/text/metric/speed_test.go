package metric_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"deem/internal/text/metric"
)

// paragraph returns a text with the given number of words in a natural distribution, with
// capitals, numbers and punctuation.
func paragraph(r *rand.Rand, words int) string {
	const syllables = "ta re lon min der ing ed tion al ness con pre ver si on es ly er ment ous"
	list := strings.Fields(syllables)
	zipf := rand.NewZipf(r, 1.2, 3, 8000)
	var b strings.Builder
	for i := range words {
		n := int(zipf.Uint64())
		word := []string{"the", "a", "of", "and", "to", "in", "is", "was", "it", "for"}[n%10]
		if n >= 10 {
			word = list[n%20] + list[n/20%20] + strings.Repeat(list[n/400%20], min(n/400, 1))
		}
		switch {
		case i%12 == 0:
			word = strings.ToUpper(word[:1]) + word[1:]
		case i%12 == 11:
			word += "."
		case i%9 == 8:
			word += ","
		case i%17 == 16:
			word = "1,250"
		}
		b.WriteString(word + " ")
	}
	return b.String()
}

// TestAtOnce uses the metrics from several goroutines, with texts of all lengths, and
// expects the scores of a single goroutine.
func TestAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var texts [40]string
	for i := range texts {
		texts[i] = paragraph(r, []int{0, 1, 3, 50, 400}[i%5])
	}
	names := []string{"F1", "ROUGE1", "ROUGE2", "ROUGEL", "ROUGELsum", "LongBenchROUGE", "BLEU", "LoCoMoF1"}
	score := func(i int, name string) float64 { return scores[name](texts[i], texts[(i*7+3)%len(texts)]) }
	want := map[string][]float64{}
	for _, name := range names {
		for i := range texts {
			want[name] = append(want[name], score(i, name))
		}
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 5 * len(texts) {
				i, name := (i+worker*11)%len(texts), names[(i+worker)%len(names)]
				if got := score(i, name); got != want[name][i] {
					t.Errorf("%s of texts %d = %v, want %v", name, i, got, want[name][i])
				}
			}
		})
	}
	wg.Wait()
}

// A word of the response must not match a word of an earlier reference that had the same
// number.
func TestROUGELForgets(t *testing.T) {
	for range 10 { // Memory is not always reused at once.
		metric.ROUGEL("a", "a b c d e", false)
		if got := metric.ROUGEL("x y z a", "a a a a a", false).Recall; got != .2 {
			t.Fatalf("ROUGEL after another text has a recall of %v, want 0.2", got)
		}
	}
}

// BenchmarkParagraphs compares texts of 50 words, each pair once, like a run over a large
// dataset of short texts. Repeating one pair would hide the cost of a new text.
func BenchmarkParagraphs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts [1024]string
	for i := range texts {
		texts[i] = paragraph(r, 50)
	}
	for name, f := range map[string]func(response, reference string) float64{
		"F1":     scores["F1"],
		"ROUGEL": func(a, b string) float64 { return metric.ROUGEL(a, b, true).F1 },
		"ROUGE2": scores["ROUGE2"],
		"BLEU":   scores["BLEU"],
		"LoCoMo": scores["LoCoMoF1"],
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f(texts[i%1024], texts[(i*7+1)%1024])
			}
		})
	}
}
