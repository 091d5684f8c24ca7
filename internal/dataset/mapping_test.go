package dataset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/dataset"
)

func TestParseMapping(t *testing.T) {
	const parts = "the parts are id, category, cluster, question, references, response, weight, fields, field.NAME"
	tests := []struct {
		text      string
		want      dataset.Mapping
		err, hint string
		canonical string
	}{
		{text: "", want: dataset.Mapping{}},
		{text: "question=q", want: dataset.Mapping{"question": "q"}, canonical: "question=q"},
		{
			text:      "question=q,references=answer,response=output,field.evidence=ev",
			want:      dataset.Mapping{"question": "q", "references": "answer", "response": "output", "field.evidence": "ev"},
			canonical: "field.evidence=ev,question=q,references=answer,response=output",
		},
		{text: " id = meta.id , weight = w, ", want: dataset.Mapping{"id": "meta.id", "weight": "w"}, canonical: "id=meta.id,weight=w"},
		{text: "reference=gold,fields.a=b", want: dataset.Mapping{"references": "gold", "field.a": "b"}, canonical: "field.a=b,references=gold"},
		{text: `response="a, b" ,id="x=\"y\""`, want: dataset.Mapping{"response": "a, b", "id": `x="y"`}, canonical: `id="x=\"y\"",response="a, b"`},
		{text: "response=a=b", want: dataset.Mapping{"response": "a=b"}, canonical: "response=a=b"},

		{text: "question", err: `mapping "question": no = in "question"`, hint: "write it as question=COLUMN,response=COLUMN"},
		{text: "questoin=q", err: `mapping: an item has no part "questoin"`, hint: "did you mean question? " + parts},
		{text: "hypothesis=q", err: `mapping: an item has no part "hypothesis"`, hint: "did you mean response? " + parts},
		{text: "answer=q", err: `mapping: an item has no part "answer"`, hint: parts},
		{text: "zzz=q", err: `mapping: an item has no part "zzz"`, hint: parts},
		{text: "question=q,question=r", err: `mapping: question is taken from two columns, "q" and "r"`},
		{text: "reference=q,references=r", err: `mapping: references is taken from two columns, "q" and "r"`},
		{text: "question=", err: "mapping: question= names no column"},
		{text: "field.=x", err: `mapping: "field." names no field`},
		{text: `question="q`, err: `mapping "question=\"q": a quote is not closed in "q`},
		{text: `question="q"r`, err: `mapping "question=\"q\"r": "r" follows the quoted name "q"`},
	}
	for _, tt := range tests {
		got, err := dataset.ParseMapping(tt.text)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err || deem.HintOf(err) != tt.hint {
				t.Errorf("ParseMapping(%q) = %v, hint %q\nwant %s, hint %q", tt.text, err, deem.HintOf(err), tt.err, tt.hint)
			}
			continue
		}
		if err != nil {
			t.Errorf("ParseMapping(%q): %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseMapping(%q) (-want +got):\n%s", tt.text, diff)
		}
		if got.String() != tt.canonical {
			t.Errorf("ParseMapping(%q).String() = %s, want %s", tt.text, got, tt.canonical)
		}
	}
}

// A lone key with many misspellings must not be slow or match nonsense.
func TestNoWildGuesses(t *testing.T) {
	for _, s := range []string{"x", "foo", "answer_text", strings.Repeat("a", 1000)} {
		_, err := dataset.ParseMapping(s + "=c")
		if hint := deem.HintOf(err); strings.Contains(hint, "did you mean") {
			t.Errorf("ParseMapping(%.20q=c) asks %q", s, hint)
		}
	}
}
