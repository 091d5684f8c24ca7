package clbench

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark"
	"deem/judge"
)

func protocol(t *testing.T, reading string) *P {
	t.Helper()
	p, err := Protocol(reading, map[string]string{promptName: "R {rubrics_text}|{model_output}|{{}}"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// task returns an item with n requirements.
func task(n int) deem.Item {
	rubric, _ := json.Marshal(strings.Fields(strings.Repeat("met ", n)))
	return deem.Item{ID: "1", Response: "so", Fields: map[string]string{fieldRubric: string(rubric)}}
}

// read returns the label of a reply, or the kind of failure.
func read(t *testing.T, reading string, n int, reply string) (string, deem.Verdict) {
	t.Helper()
	v, err := judge.Read(protocol(t, reading), task(n), deem.Reply{Text: reply, Stop: deem.StopEnd})
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return string(f.Kind), v
	}
	return v.Label, v
}

// TestReplies checks where the readings differ.
func TestReplies(t *testing.T) {
	const yes, no = `"List of Requirement Satisfaction Status": ["yes", "yes"]`, `"List of Requirement Satisfaction Status": ["yes", "no"]`
	for _, tt := range []struct{ reply, strict, upstream string }{
		{`{` + yes + `, "Overall Score": 1}`, "1", "1"},
		{`{` + no + `, "Overall Score": 0}`, "0", "0"},
		{`{` + no + `, "Overall Score": 1}`, "contradictory", "1"},
		{`{` + yes + `, "Overall Score": 0}`, "contradictory", "0"},
		{`{"Overall Score": 1}`, "unparseable", "1"},
		{`{` + yes + `, "Overall Score": true}`, "unparseable", "True"},
		{`{` + no + `, "Overall Score": 0.5}`, "out_of_range", "0.5"},
		{`{` + no + `, "Overall Score": 0, "overall score": 1}`, "contradictory", "0"},
		{"Fine.\n" + `{` + yes + `, "Overall Score": 1}`, "unparseable", "unparseable"},
	} {
		strict, _ := read(t, "", 2, tt.reply)
		upstream, _ := read(t, Upstream, 2, tt.reply)
		if strict != tt.strict || upstream != tt.upstream {
			t.Errorf("%s: %s and %s, want %s and %s", tt.reply, strict, upstream, tt.strict, tt.upstream)
		}
	}
}

// TestEmptyResponse checks that no model is asked about an empty response.
func TestEmptyResponse(t *testing.T) {
	for response, want := range map[string]bool{"": true, "\n": true, "no": false} {
		if v, decided := protocol(t, "").Decide(deem.Item{Response: response}); decided != want || v.Score != 0 {
			t.Errorf("%q: %+v %v", response, v, decided)
		}
	}
}

// TestPrompt checks that a prompt made of strings and f-strings becomes a template, and that
// only the published one is accepted.
func TestPrompt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "eval.py"), []byte("    grading_prompt = (\n        \"Other.\"\n    )\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]string{
		"": "needs a clone of " + url, t.TempDir(): "is not a clone", dir: "eval.py does not have the prompt of commit 76a395a4",
	} {
		if _, err := Prompts(repo); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(deem.HintOf(err), "--with repo=") {
			t.Errorf("%q: %v, want %s", repo, err, want)
		}
	}
	req, err := protocol(t, "").Request(deem.Item{Response: "{rubrics_text}", Fields: map[string]string{fieldRubric: `["a", "", "c"]`}})
	if want := "R 1. a\n3. c|{rubrics_text}|{}"; err != nil || req.Messages[0].Content != want {
		t.Errorf("%+v, %v, want %s", req, err, want)
	}
}

// TestConsistencyNote checks that the table says how often a judge contradicts itself.
func TestConsistencyNote(t *testing.T) {
	m, err := Benchmark().Metrics(t.Context(), benchmark.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, reply := range []string{
		`{"List of Requirement Satisfaction Status": ["yes", "no"], "Overall Score": 1}`,
		`{"List of Requirement Satisfaction Status": ["yes"], "Overall Score": 1}`,
		`{"Overall Score": 0}`,
		`{"List of Requirement Satisfaction Status": "yes", "Overall Score": 0}`,
		`{"List of Requirement Satisfaction Status": ["yes", "yes"], "Overall Score": 1}`,
	} {
		_, v := read(t, Upstream, 2, reply)
		m.Add(deem.Record{Item: task(2), Verdict: &v})
	}
	m.Add(deem.Record{Item: task(2), Verdict: &deem.Verdict{Label: "CORRECT", Score: 1}}) // of another judge
	var b strings.Builder
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"contradiction 1, length 2 and list not readable 1", "--reading strict leaves them unjudged"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestVectors compares the upstream reading with upstream's program.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "clbench.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Raw         string
			Rubrics     int
			Error       *string
			Solved      bool    `json:"counts_as_solved"`
			Consistency *string `json:"deem_consistency"`
		}
		Texts []struct {
			Rubrics []any
			Text    string
		} `json:"rubrics_text"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 62 || len(vectors.Texts) != 12 {
		t.Fatalf("%d and %d vectors, want 62 and 12", len(vectors.Vectors), len(vectors.Texts))
	}
	for _, v := range vectors.Vectors {
		label, verdict := read(t, Upstream, v.Rubrics, v.Raw)
		if failed := verdict.Label == ""; failed != (v.Error != nil) || !failed && (verdict.Score == 1) != v.Solved {
			t.Errorf("%q: %s %v, want solved %v, error %v", v.Raw, label, verdict.Score, v.Solved, v.Error != nil)
		}
		if rubric, _ := askedOf(task(v.Rubrics)); v.Consistency != nil && consistency(rubric, verdict) != *v.Consistency {
			t.Errorf("%q: %s, want %s", v.Raw, consistency(rubric, verdict), *v.Consistency)
		}
		// A score in quotes is clear too.
		if strict, _ := read(t, Strict, v.Rubrics, v.Raw); v.Consistency != nil && *v.Consistency != consistent && verdict.Label != "'1'" && (strict == "0" || strict == "1") {
			t.Errorf("%q: the strict reading gives %s", v.Raw, strict)
		}
	}
	for _, v := range vectors.Texts {
		if got := numbered(rubrics(v.Rubrics)); got != v.Text {
			t.Errorf("%v: %q, want %q", v.Rubrics, got, v.Text)
		}
	}
}
