package benchmark_test

import (
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark"
)

// lengths is a benchmark whose rule compares the length of a response under two readings:
// in characters, or in words.
func lengths() benchmark.Benchmark {
	return benchmark.OneRule{
		Benchmark: benchmark.Benchmark{Name: "lengths", Readings: []string{"characters", "words"}}, Version: 1,
		Score: func(it deem.Item, reading string) (deem.Verdict, error) {
			if it.Response == "" {
				return deem.Verdict{}, deem.Failf(deem.Input, "nothing to measure")
			}
			n := len(it.Response)
			if reading == "words" {
				n = len(strings.Fields(it.Response))
			}
			return benchmark.Given(min(1, float64(n)/4), "length", ""), nil
		},
		Table: benchmark.Table{Metric: "mean length"},
	}.Entry()
}

// TestOneRule checks that a table shows the scores of every reading, marks the one of the
// run, and marks none if the verdicts are of another judge.
func TestOneRule(t *testing.T) {
	b := lengths()
	for _, tt := range []struct{ judge, reading, chosen string }{
		{"lengths", "", "characters"}, {"lengths", "words", "words"}, {"universal", "", ""},
	} {
		m, err := b.Metrics(t.Context(), benchmark.Options{Reading: tt.reading})
		if err != nil {
			t.Fatal(err)
		}
		for _, response := range []string{"a cat", "no", ""} {
			m.Add(deem.Record{Judge: tt.judge, Item: deem.Item{ID: response, Response: response}})
		}
		var text strings.Builder
		if err := m.Text(&text); err != nil {
			t.Fatal(err)
		}
		lines := m.(*benchmark.Table).ReadingLines()
		if len(lines) != 2 || lines[0].Estimate.Value != .75 || lines[1].Estimate.Value != .375 || lines[0].Unjudged != 1 {
			t.Errorf("%+v: the lines of the readings are %+v", tt, lines)
		}
		for _, l := range lines {
			if l.Chosen != (l.Reading == tt.chosen) || strings.Contains(text.String(), l.Reading+" (this run)") != l.Chosen {
				t.Errorf("%+v: reading %s is marked %t\n%s", tt, l.Reading, l.Chosen, text.String())
			}
		}
	}
	if _, err := b.Metrics(t.Context(), benchmark.Options{Reading: "lines"}); err == nil {
		t.Error("an unknown reading is accepted")
	}
}

// TestEnd checks that only the last lines of a long prompt are kept, without half a
// character.
func TestEnd(t *testing.T) {
	for _, tt := range []struct{ prompt, want string }{
		{"", ""},
		{" What?\n", "What?"},
		{strings.Repeat("edge\n", 1000) + "What?", strings.Repeat("edge\n", 78) + "What?"},
		{strings.Repeat("🦝", 500), strings.Repeat("🦝", 400)},
		{"a" + strings.Repeat("漢", 600), strings.Repeat("漢", 400)},
	} {
		if got := benchmark.End(tt.prompt); got != tt.want {
			t.Errorf("the end of %.20q is %q (%d bytes)", tt.prompt, got, len(got))
		}
	}
}

// TestHasWords checks that words are found only as whole words, also after a place where
// they are not.
func TestHasWords(t *testing.T) {
	for _, tt := range []struct {
		s, words string
		want     bool
	}{
		{"no", "no", true},
		{"i do not know", "no", false},
		{"not that, no.", "no", true},
		{"in new york!", "new york", true},
		{"73921045", "7392104", false},
		{"73921045 7392104", "7392104", true},
		{"no_one", "no", false},
		{"éno", "no", false},
		{"aaa a", "aa", false},
		{"anything", "", false},
		{"", "no", false},
	} {
		if got := benchmark.HasWords(tt.s, tt.words); got != tt.want {
			t.Errorf("%q has %q: %t", tt.s, tt.words, got)
		}
	}
}
