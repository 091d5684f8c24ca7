package judge

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
)

func TestNumber(t *testing.T) {
	ten := Aspect{Max: 10, Integer: true}
	for _, c := range []struct {
		v    any
		s    Aspect
		want float64
		fail deem.Kind
	}{
		{v: json.Number("8"), s: ten, want: 8},
		{v: json.Number("8.0"), s: ten, want: 8},
		{v: json.Number("1e1"), s: ten, want: 10},
		{v: json.Number("-0"), s: ten, want: 0},
		{v: "8", s: ten, want: 8},
		{v: " 8 ", s: ten, want: 8},
		{v: "**8**", s: ten, want: 8},
		{v: "8/10", s: ten, want: 8},
		{v: "8 / 10.", s: ten, want: 8},
		{v: "8 out of 10", s: ten, want: 8},
		{v: "8分", s: ten, want: 8},
		{v: "８／１０", s: ten, want: 8},
		{v: "8 points", s: ten, want: 8},
		{v: 7.0, s: ten, want: 7},
		{v: "85%", s: Aspect{Max: 100}, want: 85},
		{v: "0.25", s: Aspect{Max: 1}, want: 0.25},
		{v: ".5", s: Aspect{Max: 1}, want: 0.5},
		{v: "-2", s: Aspect{Min: -3, Max: 3}, want: -2},
		{v: map[string]any{"score": json.Number("3"), "reason": "x"}, s: ten, want: 3},

		{v: json.Number("11"), s: ten, fail: deem.OutOfRange},
		{v: "-1", s: ten, fail: deem.OutOfRange},
		{v: "7.5", s: ten, fail: deem.OutOfRange},
		{v: json.Number("1e999"), s: ten, fail: deem.OutOfRange},
		{v: math.Inf(1), s: Aspect{Max: math.Inf(1)}, fail: deem.OutOfRange},
		{v: math.NaN(), s: ten, fail: deem.Unparseable},
		{v: "4/5", s: ten, fail: deem.Unparseable},
		{v: "8%", s: ten, fail: deem.Unparseable},
		{v: "7-8", s: ten, fail: deem.Unparseable},
		{v: "8,5", s: ten, fail: deem.Unparseable},
		{v: "0x8", s: ten, fail: deem.Unparseable},
		{v: "1_0", s: ten, fail: deem.Unparseable},
		{v: "NaN", s: ten, fail: deem.Unparseable},
		{v: "Infinity", s: ten, fail: deem.Unparseable},
		{v: "eight", s: ten, fail: deem.Unparseable},
		{v: "", s: ten, fail: deem.Unparseable},
		{v: true, s: ten, fail: deem.Unparseable},
		{v: nil, s: ten, fail: deem.Unparseable},
		{v: []any{json.Number("8")}, s: ten, fail: deem.Unparseable},
		{v: map[string]any{"reason": "x"}, s: ten, fail: deem.Unparseable},
	} {
		got, err := c.s.Number(c.v)
		if got != c.want || kindOf(err) != c.fail {
			t.Errorf("Number(%v, %+v) = %v, %v, want %v, %q", c.v, c.s, got, err, c.want, c.fail)
		}
		if math.Signbit(got) && got == 0 {
			t.Errorf("Number(%v, %+v) = -0, want 0", c.v, c.s)
		}
	}
}

func TestLabelled(t *testing.T) {
	scales := map[string]Aspect{"correctness": {Max: 10, Integer: true}, "relevance": {Max: 10, Integer: true}}
	for _, c := range []struct {
		text string
		c, r float64
		fail deem.Kind
	}{
		{text: "**Correctness:** 8/10\n**Relevance:** 7", c: 8, r: 7},
		{text: "**Correctness**: 8\n**Relevance**: 7", c: 8, r: 7},
		{text: "| Correctness | 8 |\n| Relevance | 9/10 |", c: 8, r: 9},
		{text: "correctness = 3, relevance is 4", c: 3, r: 4},
		{text: "Correctness (0-10): 8\nRelevance [0-10]: 9", c: 8, r: 9},
		{text: "Correctness (8/10), relevance (7/10)", c: 8, r: 7},
		{text: "Correctness：8分\nRelevance： 9 分", c: 8, r: 9},
		{text: "correctness score: 8 out of 10; relevance rating is 7", c: 8, r: 7},
		{text: "Correctness - 8\nRelevance - 7", c: 8, r: 7},
		{text: "1. Correctness: 8\n2. Relevance: 7\n", c: 8, r: 7},
		{text: "correctness: 5. relevance: 6.", c: 5, r: 6},
		{text: "correctness: 5, correctness: 6, relevance: 1. Its correctness suffers.", c: 6, r: 1},
		{text: "<think>correctness: 1</think>correctness: 2 relevance: 3", c: 2, r: 3},
		{text: "incorrectness: 9, correctness: 2, irrelevance: 9, relevance: 3", c: 2, r: 3},

		{text: "correctness: 11 relevance: 2", fail: deem.OutOfRange},
		{text: "correctness: 8.5 relevance: 1", fail: deem.OutOfRange},
		{text: "correctness: 4/5, relevance: 3", fail: deem.Unparseable},
		{text: "correctness: 7-8, relevance: 3", fail: deem.Unparseable},
		{text: "correctness: 80%, relevance: 3", fail: deem.Unparseable},
		{text: "correctness: 1st, relevance: 3", fail: deem.Unparseable},
		{text: "correctness: 8", fail: deem.Unparseable},
		{text: `{"correctness": 8, "relevance": 1`, fail: deem.Truncated},
		{text: "I'm sorry, but I can't assist with that.", fail: deem.Refused},
		{text: "", fail: deem.Empty},
	} {
		got, err := labelledNumbers(c.text, scales)
		want := map[string]float64{"correctness": c.c, "relevance": c.r}
		if c.fail != "" {
			want = nil
		}
		if d := cmp.Diff(want, got); d != "" || kindOf(err) != c.fail {
			t.Errorf("Labelled(%q) = %v, %v, want %v, %q", c.text, got, err, want, c.fail)
		}
	}
}
