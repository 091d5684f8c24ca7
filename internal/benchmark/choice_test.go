package benchmark_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/internal/benchmark"
)

// taken returns the result of a rule for a response: right, wrong, or the kind of its
// failure.
func taken(t *testing.T, name, options, reference, response string) string {
	t.Helper()
	v, err := benchmark.NewChoice(name, name, "").Judge(t.Context(), deem.Item{
		ID: "1", References: []string{reference}, Response: response, Fields: map[string]string{benchmark.OptionsField: options},
	})
	if err == nil {
		if (v.Label == "right") != (v.Score == 1) {
			t.Errorf("%s of %q: label %s and score %v", name, response, v.Label, v.Score)
		}
		return v.Label
	}
	f, ok := errors.AsType[*deem.Failure](err)
	if !ok {
		t.Fatal(err)
	}
	return string(f.Kind)
}

const drinks = `{"A": "Green tea", "B": "Coffee, black", "C": "Milk", "D": "Water"}`

func TestChoice(t *testing.T) {
	for _, tt := range []struct{ response, reference, want string }{
		{"B", "B", "right"},
		{"(b)", "B", "right"},
		{"**B**", "B", "right"},
		{"B.", "(b)", "right"},
		{"A", "B", "wrong"},
		{"E", "B", "out_of_range"},
		{"Final Answer: E", "B", "out_of_range"},
		{"Final Answer: [B]", "B", "right"},
		{"Final Answer: (B)", "B", "right"},
		{"Final answer: **b**", "B", "right"},
		{"The final answer is B, because of the aroma.", "B", "right"},
		{"The final answer is based on your taste, so C", "B", "unparseable"},
		{"Answer: A is tempting. Final Answer: B", "B", "right"},
		{"Final Answer: A. No, wait. Final Answer: B", "B", "contradictory"},
		{`\boxed{B}`, "B", "right"},
		{"coffee, black", "B", "right"},
		{"Coffee, black.", "Coffee, black", "right"},
		{"B. Coffee, black", "B", "right"},
		{"B) Milk", "B", "unparseable"},
		{"A and C", "A, C", "right"},
		{"A, C", "C and A", "right"},
		{"A", "A, C", "wrong"},
		{"A or B", "B", "unparseable"},
		{"I prefer a cup of tea", "A", "unparseable"},
		{"", "A", "unparseable"},
		{"<final_answer>(c)</final_answer>", "C", "right"},
		{"The answer is a good cup of tea", "A", "unparseable"},
		{"A", "Juice", "input"},
		{"A", "F", "input"},
	} {
		if got := taken(t, benchmark.ChoiceStrict, drinks, tt.reference, tt.response); got != tt.want {
			t.Errorf("%q with %q: %s, want %s", tt.response, tt.reference, got, tt.want)
		}
	}
}

// TestChoiceOptions checks options in JSON and Python syntax, as an object and as a list.
func TestChoiceOptions(t *testing.T) {
	for _, options := range []string{
		drinks, `{'A': 'Green tea', 'B': 'Coffee, black', 'C': "Milk", 'D': 'Water'}`, `{"(a)": "Green tea", "(b)": "Coffee, black"}`,
		`["Green tea", "Coffee, black", "Milk"]`, `['A. Green tea', 'B. Coffee, black']`, `["A) Green tea", "B) Coffee, black"]`,
	} {
		if got := taken(t, benchmark.ChoiceStrict, options, "B", "Coffee, black"); got != "right" {
			t.Errorf("%s: %s, want right", options, got)
		}
	}
	for _, options := range []string{"", "A B C", `{"A": "one"}`, "[", "7"} {
		if got := taken(t, benchmark.ChoiceStrict, options, "A", "A"); got != "input" {
			t.Errorf("%q: %s, want a failure of kind input", options, got)
		}
	}
	// ChoiceOptions in another order have other letters: the order of the item counts.
	if got := taken(t, benchmark.ChoiceStrict, `{"A": "Coffee, black", "B": "Green tea"}`, "Coffee, black", "A"); got != "right" {
		t.Errorf("the right text under another letter: %s", got)
	}
}

func TestChoiceUpstream(t *testing.T) {
	for _, tt := range []struct{ rule, response, want string }{
		{benchmark.ChoiceEverMemBench, "B", "right"},
		{benchmark.ChoiceEverMemBench, "b) coffee", "right"},
		{benchmark.ChoiceEverMemBench, "I think B", "right"},
		{benchmark.ChoiceEverMemBench, "Definitely B", "wrong"}, // the D
		{benchmark.ChoiceEverMemBench, "", "unparseable"},
		{benchmark.ChoiceEverMemBench, "no", "unparseable"},
		{benchmark.ChoiceMemBench, "B", "right"},
		{benchmark.ChoiceMemBench, "A", "wrong"},
		{benchmark.ChoiceMemBench, "B.", "unparseable"},
		{benchmark.ChoiceMemBench, "E", "out_of_range"},
		{benchmark.ChoicePersonaMem, "Final Answer: E", "out_of_range"},
		{benchmark.ChoicePersonaMem, "So the answer is clearly B", "wrong"}, // the c
	} {
		if got := taken(t, tt.rule, drinks, "B", tt.response); got != tt.want {
			t.Errorf("%s of %q: %s, want %s", tt.rule, tt.response, got, tt.want)
		}
	}
}

// TestChoiceVectors compares the rules with the published functions.
func TestChoiceVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "field", "personamem-v2", "vectors", "replies.json"))
	if err != nil {
		t.Skipf("the published vectors are not here: %v", err)
	}
	var vectors struct {
		Upstream []struct{ Reply, Letter string } `json:"mcq_upstream"`
		Omni     []struct {
			Reply, Gold string
			Correct     bool
		} `json:"mcq_omnimemeval"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Upstream) != 23 || len(vectors.Omni) != 12 {
		t.Fatalf("%d and %d vectors, want 23 and 12", len(vectors.Upstream), len(vectors.Omni))
	}
	for _, v := range vectors.Upstream {
		// A letter that was not offered is a failure, and so is a missing letter.
		want := map[string]string{"": "unparseable", "T": "out_of_range", "N": "out_of_range"}[v.Letter]
		reference := "A"
		if want == "" {
			want, reference = "right", v.Letter
		}
		if got := taken(t, benchmark.ChoicePersonaMem, drinks, reference, v.Reply); got != want {
			t.Errorf("PersonaMem v2, %q: %s, want %s, for the letter is %q", v.Reply, got, want, v.Letter)
		}
	}
	for _, v := range vectors.Omni {
		if got := taken(t, benchmark.ChoiceOmniMemEval, drinks, v.Gold, v.Reply); (got == "right") != v.Correct {
			t.Errorf("OmniMemEval, %q with %s: %s, want correct %v", v.Reply, v.Gold, got, v.Correct)
		}
	}
}
