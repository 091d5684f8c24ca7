package locomo_test

import (
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/locomo"
)

func each(list []deem.Record) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for _, rec := range list {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// TestWriteResults writes the example's verdicts and reads them back: the same items with
// the same verdicts.
func TestWriteResults(t *testing.T) {
	s := open(t, locomo.Options{Data: []string{example("conversations.json")}, Responses: []string{example("mem0.json")}})
	list := judged(t, s, asked(locomo.StrictName)(t, locomo.Excluded))
	var b strings.Builder
	if left, err := locomo.WriteResults(&b, each(list)); left != 0 || err != nil {
		t.Fatalf("%d left, error %v", left, err)
	}
	file := write(t, "results.json", b.String())
	again := open(t, locomo.Options{Responses: []string{file}})
	if diff := cmp.Diff(items(t, s), items(t, again)); diff != "" {
		t.Errorf("items that were read back (-want +got):\n%s", diff)
	}
	var rows map[string][]struct {
		ID    string  `json:"question_id"`
		Score float64 `json:"llm_score"`
	}
	if err := json.Unmarshal([]byte(b.String()), &rows); err != nil {
		t.Fatal(err)
	}
	scores := map[string]float64{}
	for _, r := range slices.Concat(slices.Collect(maps.Values(rows))...) {
		scores[r.ID] = r.Score
	}
	for _, rec := range list {
		if got, ok := scores[rec.Item.ID]; !ok || got != rec.Verdict.Score {
			t.Errorf("score %v on %s, %t, want %v", got, rec.Item.ID, ok, rec.Verdict.Score)
		}
	}
	if len(scores) != len(list) {
		t.Errorf("%d verdicts written, want %d", len(scores), len(list))
	}
}

func TestWriteResultsOfTheRule(t *testing.T) {
	half := record(locomo.F1Name, "a", "4", 0.5)
	half.Item.References = []string{"x"}
	second := half
	second.Trial = 1
	var b strings.Builder
	left, err := locomo.WriteResults(&b, each([]deem.Record{half, second, record(locomo.F1Name, "b", "4", -1)}))
	want := `{
  "conv-1": [
    {
      "question_id": "a",
      "question": "",
      "answer": "x",
      "response": "",
      "category": "4",
      "locomo_f1": 0.5
    }
  ]
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" || left != 1 || err != nil {
		t.Errorf("%d left, error %v, file (-want +got):\n%s", left, err, diff)
	}
	b.Reset()
	if _, err := locomo.WriteResults(&b, each(nil)); err != nil || b.String() != "{}\n" {
		t.Errorf("file without records %q, error %v", b.String(), err)
	}
	broken := func(yield func(deem.Record, error) bool) { yield(deem.Record{}, errors.ErrUnsupported) }
	if _, err := locomo.WriteResults(&b, broken); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v, want that of the records", err)
	}
}

func TestResultsName(t *testing.T) {
	for _, tt := range []struct{ file, judge, want string }{
		{"out/answers.json", "locomo/strict", "out/answers.locomo-strict.json"},
		{"a.jsonl.gz", "locomo/f1", "a.locomo-f1.json"},
		{"a", "mine", "a.mine.json"},
	} {
		if got := locomo.ResultsName(tt.file, tt.judge); got != tt.want {
			t.Errorf("ResultsName(%q, %q) = %q, want %q", tt.file, tt.judge, got, tt.want)
		}
	}
}
