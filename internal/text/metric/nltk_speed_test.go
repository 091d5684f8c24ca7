package metric_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"deem/internal/text/metric"
)

const (
	newsParagraph = `Mr. Tobias Hale moved to Porto, Ill., on 7 May 2019 at 3 p.m. "I can't say I'm sorry," he said; ` +
		`the rent (some $1,250.50 a month) had doubled. His sister's reply was short: don't. Would J. Marsh ` +
		`have stayed? Nobody knows... She isn't gonna ask him again -- not before 2024, at any rate.`
	another = `On May 7th, 2019 Tobias relocated to Porto because his rent had doubled to $1,250.50 monthly. ` +
		`His sister advised against it. Nobody knows whether Mr. Marsh would have remained; she will not ask.`
)

// TestNLTKLongTexts reads texts that make naive code slow. The limit is much more than needed,
// so that only a blow-up fails.
func TestNLTKLongTexts(t *testing.T) {
	const limit = 10 * time.Second
	for _, unit := range []string{
		"a", ".", ". ", "?!", "? ", "a. ", "A. ", "a.b", "'", "''", `"`, "'s ", "n't ", "``", "--", "-a", ",", ": ", ",,a",
		"\u00a0.", "?\u00a0", ".\x1c", "(", "can", "cannot", "Mr. ", "1.", "5. b", "\n", ".\n", "...\n", "e\u0301", "\xff", ".)\" ",
	} {
		s := strings.Repeat(unit, (32<<10)/len(unit))
		start := time.Now()
		words := metric.NLTKWords(s)
		score := metric.Mem0BLEU1(s, s)
		if took := time.Since(start); took > limit || score > 1 {
			t.Errorf("%d times %q: %d words, BLEU-1 %v, in %v", len(s)/len(unit), unit, len(words), score, took)
		}
	}
}

// TestNLTKAtOnce loads the parameters from several goroutines at once.
func TestNLTKAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := len(metric.NLTKSentences(newsParagraph)); got != 4 {
				t.Errorf("%d sentences, want 4", got)
			}
		})
	}
	wg.Wait()
}

func BenchmarkWords(b *testing.B) {
	b.SetBytes(int64(len(newsParagraph)))
	b.ReportAllocs()
	metric.NLTKWords(newsParagraph) // The parameters are read once.
	for b.Loop() {
		metric.NLTKWords(newsParagraph)
	}
}

func BenchmarkSentences(b *testing.B) {
	b.SetBytes(int64(len(newsParagraph)))
	b.ReportAllocs()
	metric.NLTKWords(newsParagraph)
	for b.Loop() {
		metric.NLTKSentences(newsParagraph)
	}
}
