package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/dataset"
)

func TestParseMapping(t *testing.T) {
	const parts = "the parts are id, category, cluster, question, references, response, messages, weight, fields, field.NAME"
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

// A single key with many misspellings must not be slow or match nonsense.
func TestNoWildGuesses(t *testing.T) {
	for _, s := range []string{"x", "foo", "answer_text", strings.Repeat("a", 1000)} {
		_, err := dataset.ParseMapping(s + "=c")
		if hint := deem.HintOf(err); strings.Contains(hint, "did you mean") {
			t.Errorf("ParseMapping(%.20q=c) asks %q", s, hint)
		}
	}
}

// Names are compared without case, spaces and punctuation; and "answer" is the response if
// there is another reference.
func TestColumnsByMeaning(t *testing.T) {
	for _, c := range []struct{ name, row, want string }{
		{"ragas, old names", `{"question":"Who?","contexts":["c"],"answer":"Ada","ground_truth":"Grace"}`, "Who?|Grace|Ada"},
		{"ragas", `{"user_input":"Who?","retrieved_contexts":["c"],"response":"Ada","reference":"Grace"}`, "Who?|Grace|Ada"},
		{"ragas, with metrics", `{"user_input":"Who?","retrieved_contexts":["c"],"response":"Ada","reference":"Grace","faithfulness":0.5,"answer_relevancy":0.9}`, "Who?|Grace|Ada"},
		{"DeepEval", `{"input":"Who?","actual_output":"Ada","expected_output":"Grace","retrieval_context":["c"],"context":null}`, "Who?|Grace|Ada"},
		{"DeepEval, test run", `{"name":"test_0","input":"Who?","actualOutput":"Ada","expectedOutput":"Grace","retrievalContext":["c"],"success":true,"metricsData":[{"name":"m","score":0.5}]}`, "Who?|Grace|Ada"},
		{"OpenAI evals", `{"input":[{"role":"system","content":"Be brief."},{"role":"user","content":"Who?"}],"ideal":"Grace","sampled":"Ada"}`, "Who?|Grace|Ada"},
		{"OpenAI evals, several", `{"input":[{"role":"user","content":"Who?"}],"ideal":["Grace","G. Hopper"],"sampled":"Ada"}`, "Who?|Grace/G. Hopper|Ada"},
		{"LangSmith", `{"id":"r","inputs":{"question":"Who?"},"outputs":{"answer":"Ada"},"reference_outputs":{"answer":"Grace"}}`, "Who?|Grace|Ada"},
		{"LangSmith, messages", `{"id":"r","inputs":{"messages":[{"role":"user","content":"Who?"}]},"outputs":{"messages":[{"role":"user","content":"Who?"},{"role":"assistant","content":"Ada"}]},"reference_outputs":{"answer":"Grace"}}`, "Who?|Grace|Ada"},
		{"LangSmith, table", `{"inputs.question":"Who?","outputs.answer":"Ada","error":null,"reference.answer":"Grace","feedback.correct":1,"execution_time":1.5,"example_id":"e","id":"r"}`, "Who?|Grace|Ada"},
		{"Langfuse", `{"input":"Who?","output":"Ada","expectedOutput":"Grace"}`, "Who?|Grace|Ada"},
		{"Langfuse, objects", `{"id":"t","input":{"query":"Who?"},"output":{"role":"assistant","content":"Ada"},"expectedOutput":{"answer":"Grace"}}`, "Who?|Grace|Ada"},
		{"Braintrust", `{"id":"r","span_id":"s","root_span_id":"t","input":{"question":"Who?"},"output":"Ada","expected":"Grace","scores":{"Factuality":0.6},"metadata":{"a":1},"created":"2026-01-01T00:00:00Z"}`, "Who?|Grace|Ada"},
		{"an object that means something", `{"question":"Who?","response":{"city":"Paris"},"reference":{"city":"Rome"}}`, `Who?|{'city': 'Rome'}|{"city":"Paris"}`},
		{"spaces and capitals", `{"Question":"Who?","Model Answer":"Ada","Gold Answer":"Grace"}`, "Who?|Grace|Ada"},
		{"hyphens", `{"question":"Who?","predicted-answer":"Ada","ground-truth-answer":"Grace"}`, "Who?|Grace|Ada"},
		{"a weaker name gives way", `{"question":"Who?","q":"no","response":"Ada","completion":"no","reference":"Grace"}`, "Who?|Grace|Ada"},
	} {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		if err := os.WriteFile(path, []byte(c.row), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{path}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for it := range d.Items() {
			if got := it.Question + "|" + strings.Join(it.References, "/") + "|" + it.Response; got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
