package match_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/evidence"
)

// show writes an item with its spans in brackets: s same, o other, m missing, d doubt.
func show(it deem.Item) string {
	texts := []string{it.Response}
	texts = append(texts, it.References...)
	ends := make([]int, len(texts))
	shown := make([]strings.Builder, len(texts))
	for _, s := range evidence.Spans(it) {
		k := s.Reference + 1
		fmt.Fprintf(&shown[k], "%s[%s:%s]", texts[k][ends[k]:s.Start], s.Kind[:1], texts[k][s.Start:s.End])
		ends[k] = s.End
	}
	for k, text := range texts {
		shown[k].WriteString(text[ends[k]:])
		texts[k] = shown[k].String()
	}
	return strings.Join(texts, " | ")
}

func TestSpans(t *testing.T) {
	for _, tt := range []struct{ question, response, references, want string }{
		{"How long?", "It took two weeks and four days.", "18 days", "It took [s:two weeks and four days]. | [s:18 days]"},
		{"How long?", "It took 19 days.", "18 days", "It took [o:19 days]. | [o:18 days]"},
		{"When?", "On May 7, 2023.", "2023-05-07", "On [s:May 7, 2023]. | [s:2023-05-07]"},
		{"When?", "On 8 May 2023.", "7 May 2023", "On [o:8 May 2023]. | [o:7 May 2023]"},
		{"Who did it?", "Anna did not do it.", "Anna", "[d:Anna] did not do it. | [s:Anna]"},
		{"Where was she born?", "In Lisbon. Actually no, Porto.", "Lisbon", "In [d:Lisbon]. Actually no, Porto. | [m:Lisbon]"},
		{"Where was she born?", "In Porto.", "Oslo||Porto", "In [s:Porto]. | Oslo | [s:Porto]"},
		{"What did she raise?", "Money for a museum.", "money for a hospital", "[s:Money] for a museum. | [s:money] for a [m:hospital]"},
		{"多少？", "总共１８天。", "18天", "总共[s:１８天]。 | [s:18天]"},
		{"Who?", "👍", "Anna", "👍 | [m:Anna]"},
	} {
		it := deem.Item{Question: tt.question, Response: tt.response, References: strings.Split(tt.references, "||")}
		if got := show(it); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	if got := evidence.Spans(deem.Item{Response: "x"}); got != nil {
		t.Errorf("an item without a reference has spans: %v", got)
	}
}

// Spans are in order, do not overlap, and lie within their texts, whatever the texts are.
func TestSpansLieInTheirTexts(t *testing.T) {
	pairs := append(readPairs(t, "match.txt"), readPairs(t, "tricky.txt")...)
	rapid.Check(t, func(rt *rapid.T) {
		it := pairs[rapid.IntRange(0, len(pairs)-1).Draw(rt, "pair")].it
		it.Response = rapid.String().Draw(rt, "before") + it.Response + rapid.String().Draw(rt, "after")
		last := evidence.Span{Reference: -1}
		for _, s := range evidence.Spans(it) {
			text := it.Response
			if s.Reference >= 0 {
				text = it.References[s.Reference]
			}
			if s.Reference != last.Reference {
				last = evidence.Span{}
			}
			if s.Start < last.End || s.End <= s.Start || s.End > len(text) {
				rt.Fatalf("span %+v after %+v of a text of %d bytes", s, last, len(text))
			}
			last = s
		}
	})
}
