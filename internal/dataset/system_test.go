package dataset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem/internal/dataset"
)

// TestSystemFields checks that the cost of a response is found under the usual names, and
// that seconds become milliseconds.
func TestSystemFields(t *testing.T) {
	for _, c := range []struct {
		name, content, mapping string
		want                   map[string]string
	}{
		{"our names", `{"response": "r", "tokens_in": 5, "tokens_out": 2, "latency_ms": 80, "cost": 0.25}`, "", map[string]string{
			"tokens_in": "5", "tokens_out": "2", "latency_ms": "80", "cost": "0.25",
		}},
		{"inside usage", `{"response": "r", "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "duration_seconds": 1.5}`, "", map[string]string{
			"tokens_in": "7", "tokens_out": "3", "latency_ms": "1500.0",
		}},
		{"milliseconds before seconds", `{"response": "r", "latency_s": 9, "latency_ms": 80}`, "", map[string]string{"latency_ms": "80"}},
		{"not a number", `{"response": "r", "latency_s": "fast", "Total Cost": "free"}`, "", map[string]string{"latency_ms": "fast", "cost": "free"}},
		{"null is missing", `{"response": "r", "cost": null, "tokens_in": ""}`, "", nil},
		{"mapped", `{"response": "r", "cost": 3, "meta": {"spent": 4}}`, "field.cost=meta.spent", map[string]string{"cost": "4"}},
		{"taken", `{"response": "r", "cost": "a lot"}`, "question=cost", nil},
	} {
		got := items(t, "a.jsonl", c.content, dataset.Source{Map: mapping(t, c.mapping)})
		if diff := cmp.Diff(c.want, got[0].Fields); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
