package forgeteval_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/forgeteval"
)

// A recorded case, with what a store returned.
type recorded struct {
	Name        string
	Needed      []string            `json:"must_contain"`
	Forbidden   []string            `json:"must_not_contain"`
	Query       string              `json:"final_query"`
	Mutations   [][]string          `json:"mutations"`
	Unsupported []string            `json:"unsupported"`
	Recall      map[string][]string `json:"recall"`
}

// judged returns "right", "wrong" or "failure".
func judged(t *testing.T, reading string, c recorded) string {
	t.Helper()
	j, err := forgeteval.Benchmark().Judge(forgeteval.Name, benchmark.Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	it := deem.Item{ID: "1", Question: c.Query, Fields: map[string]string{}}
	for name, v := range map[string]any{
		"must_contain": c.Needed, "must_not_contain": c.Forbidden, "mutations": c.Mutations, "unsupported": c.Unsupported, "recall": c.Recall,
	} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		it.Fields[name] = string(data)
	}
	v, err := j.Rule.Judge(t.Context(), it)
	if _, ok := errors.AsType[*deem.Failure](err); ok {
		return "failure"
	}
	return v.Label
}

// TestReadings checks cases of ours.
func TestReadings(t *testing.T) {
	const query = "Where does Ida live?"
	purge := [][]string{{"purge", "Ida's old town"}}
	for _, tt := range []struct {
		c                recorded
		probed, unprobed string
	}{
		{recorded{Recall: map[string][]string{query: {"Ida lives in OSLO."}, "Bergen": {}}}, "right", "right"},
		{recorded{Recall: map[string][]string{query: {"Ida lives in Oslo."}, "Bergen": {"Ida lived in Bergen."}}}, "wrong", "right"},
		{recorded{Recall: map[string][]string{query: {"Ida lives in Oslo, not Bergen."}, "Bergen": {}}}, "wrong", "wrong"},
		{recorded{Recall: map[string][]string{query: {}, "Bergen": {}}}, "wrong", "wrong"},
		{recorded{Recall: map[string][]string{query: {"Oslo"}}}, "failure", "right"}, // It was not probed.
		{recorded{Recall: map[string][]string{query: {"Oslo"}, "Bergen": {}}, Unsupported: []string{"purge"}}, "failure", "failure"},
		{recorded{Recall: map[string][]string{query: {"Oslo"}, "Bergen": {}}, Mutations: [][]string{{"forget", "x"}}}, "failure", "failure"},
	} {
		c := tt.c
		c.Query, c.Needed, c.Forbidden = query, []string{"Oslo"}, []string{"Bergen"}
		if c.Mutations == nil {
			c.Mutations = purge
		}
		if probed, unprobed := judged(t, "", c), judged(t, forgeteval.Unprobed, c); probed != tt.probed || unprobed != tt.unprobed {
			t.Errorf("%v: %s and %s, want %s and %s", c.Recall, probed, unprobed, tt.probed, tt.unprobed)
		}
	}
}

// TestVectors compares the readings with upstream's program.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "forgeteval.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			recorded
			Queries          []string
			Probed, Unprobed *bool
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 63 {
		t.Fatalf("%d vectors, want 63", len(vectors.Vectors))
	}
	label := func(right *bool) string {
		switch {
		case right == nil:
			return "failure"
		case *right:
			return "right"
		}
		return "wrong"
	}
	for _, v := range vectors.Vectors {
		for _, query := range v.Queries { // What is not recorded is empty in these.
			if v.Recall[query] == nil {
				v.Recall[query] = []string{}
			}
		}
		for reading, want := range map[string]string{forgeteval.Probed: label(v.Probed), forgeteval.Unprobed: label(v.Unprobed)} {
			if got := judged(t, reading, v.recorded); got != want {
				t.Errorf("%s, %s: %s, want %s", v.Name, reading, got, want)
			}
		}
	}
}
