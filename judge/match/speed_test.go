package match_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/judge/match"
)

// TestLongResponse feeds texts that make careless code slow, one of them of ten
// megabytes. The limit is far above what they take, so that only a blow-up fails.
func TestLongResponse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	const limit = time.Minute // A busy machine takes seconds.
	for name, unit := range map[string]string{
		"words":    "the quick brown fox jumps over 12 lazy dogs. ",
		"digits":   "1,234 ",
		"one word": "a",
		"commas":   ",",
		"negation": "not ",
		"sigma":    "Σ'",
		"han":      "二十",
		"dashes":   "1-2-",
		"or":       "Paris or ",
		"hits":     "18 days 19 days ",
		"periods":  "1.2.3.",
		"dots":     "a.b.",
		"symbols":  "Paris+ <b> 18^",
		"pluses":   "+",
	} {
		size := 128 << 10
		if name == "words" {
			size = 10 << 20
		}
		it := deem.Item{
			Question:   "Which came first, the fox or the dog?",
			References: []string{"Paris Texas", "18 days", "apples, pears and plums"},
			Response:   strings.Repeat(unit, size/len(unit)),
		}
		start := time.Now()
		v, err := match.New().Judge(t.Context(), it)
		if f, ok := errors.AsType[*deem.Failure](err); (err != nil && (!ok || f.Kind != deem.Unsure)) || err == nil && v.Label == "" {
			t.Errorf("%s: verdict %+v, error %v", name, v, err)
		}
		took := time.Since(start)
		t.Logf("%s: %v", name, took.Round(time.Millisecond))
		if took > limit {
			t.Errorf("%s took %v, want less than %v", name, took, limit)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for name, it := range map[string]deem.Item{
		"name":   {Question: "Where does she live?", References: []string{"Paris"}, Response: "She lives in Paris."},
		"number": {Question: "How long did it take?", References: []string{"18 days"}, Response: "It took two weeks and four days."},
		"date":   {Question: "When did they meet?", References: []string{"7 May 2023"}, Response: "They met on May 7th, 2023."},
		"wrong":  {Question: "Who wrote it?", References: []string{"Jane Austen"}, Response: "It was written by Charlotte Brontë in 1847."},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := match.New().Judge(b.Context(), it); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
