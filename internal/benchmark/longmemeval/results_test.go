package longmemeval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/benchmark/longmemeval"
)

// TestWriteResults compares with the output of evaluate_qa.py for these rows.
func TestWriteResults(t *testing.T) {
	in := `{"hypothesis":"Café 5","question_id":"q1","n":1.50,"big":12345678901234567890,"x":{"b":[],"a":null}}
{"question_id": "unknown", "hypothesis": "x"}
{"question_id": "q2", "autoeval_label": {"model": "old", "label": true}, "hypothesis": "\ud83d\ude00 </b>", "q": 2}
`
	want := `{"hypothesis": "Caf\u00e9 5", "question_id": "q1", "n": 1.5, "big": 12345678901234567890, "x": {"b": [], "a": null}, "autoeval_label": {"model": "gpt-4o-2024-08-06", "label": true}}
{"question_id": "q2", "autoeval_label": {"model": "gpt-4o-2024-08-06", "label": false}, "hypothesis": "\ud83d\ude00 </b>", "q": 2}
`
	labels := map[string]bool{"q1": true, "q2": false}
	verdict := func(id string) (label, ok bool) {
		label, ok = labels[id]
		return label, ok
	}
	for name, o := range map[string]longmemeval.Options{
		"responses":      {Data: []string{"never read"}, Responses: []string{write(t, "r.jsonl", in)}},
		"data alone":     {Data: []string{write(t, "d.jsonl", in)}},
		"standard input": {Responses: []string{"-"}, Stdin: strings.NewReader(in)},
	} {
		var out strings.Builder
		left, err := longmemeval.WriteResults(t.Context(), &out, o, "openai:gpt-4o-2024-08-06", verdict)
		if diff := cmp.Diff(want, out.String()); diff != "" || left != 1 || err != nil {
			t.Errorf("%s: %d left out, %v (-want +got):\n%s", name, left, err, diff)
		}
	}
}

// brokenWriter fails like a full disk.
type brokenWriter struct{}

var errFull = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteResultsTrouble(t *testing.T) {
	all := func(string) (label, ok bool) { return true, true }
	good := write(t, "r.jsonl", `{"question_id": "q1", "hypothesis": "h"}`)
	for want, o := range map[string]longmemeval.Options{
		"no space left":                        {Responses: []string{good}},
		"the row has no question_id":           {Responses: []string{write(t, "r.jsonl", `{"hypothesis": "h"}`)}},
		"no such file":                         {Responses: []string{good + ".missing"}},
		"has no rows, or cannot be read twice": {Responses: []string{"-"}, Stdin: strings.NewReader("\n")},
		"not JSON":                             {Responses: []string{write(t, "r.jsonl", `{"question_id`)}},
	} {
		if _, err := longmemeval.WriteResults(t.Context(), brokenWriter{}, o, "m", all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestResultsName(t *testing.T) {
	for model, want := range map[string]string{
		"openai:gpt-4o-2024-08-06":                      "hyp.jsonl.eval-results-gpt-4o",
		"gpt-4o-2024-08-06":                             "hyp.jsonl.eval-results-gpt-4o",
		"openai:gpt-4o-mini-2024-07-18":                 "hyp.jsonl.eval-results-gpt-4o-mini",
		"openai:meta-llama/Meta-Llama-3.1-70B-Instruct": "hyp.jsonl.eval-results-llama-3.1-70b-instruct",
		"openai:ft:gpt-4o:us::7":                        "hyp.jsonl.eval-results-ft-gpt-4o-us--7",
		"ollama:llama3.2:8b":                            "hyp.jsonl.eval-results-ollama-llama3.2-8b",
		"replay:../a b/replies.jsonl":                   "hyp.jsonl.eval-results-replay-..-a-b-replies.jsonl",
	} {
		if got := longmemeval.ResultsName("hyp.jsonl", model); got != want {
			t.Errorf("ResultsName(%q) = %s, want %s", model, got, want)
		}
	}
}
