package infinitebench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/infinitebench"
	builtin "deem/judge"
)

// folder writes files into a folder results/<system> and returns it.
func folder(t *testing.T, system string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "results", system)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open opens a set that the test closes.
func open(t *testing.T, o infinitebench.Options) benchmark.Set {
	t.Helper()
	s, err := infinitebench.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("%v (hint: %s)", err, deem.HintOf(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func itemsOf(t *testing.T, s benchmark.Set) []deem.Item {
	t.Helper()
	var list []deem.Item
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, it)
	}
	return list
}

// TestOpen reads one row of every form of label.
func TestOpen(t *testing.T) {
	dir := folder(t, "gpt4", map[string]string{
		"preds_math_calc.jsonl":   `{"id": 3, "prediction": "1 2", "ground_truth": [[1, -2]]}` + "\n",
		"preds_passkey.jsonl":     `{"id": 0, "pred": "7", "label": "7"}` + "\n\n" + `{"id": 1, "prediction": "8", "label": ["8"], "ground_truth": "9"}` + "\n",
		"preds_math_find.jsonl":   `{"id": 0, "prediction": "88", "ground_truth": 88.0}` + "\n" + `{"id": 1, "prediction": "5", "ground_truth": [5]}` + "\n",
		"preds_code_debug.jsonl":  `{"id": 0, "prediction": "A", "ground_truth": ["f", "A"], "seconds": NaN}` + "\n",
		"preds_code_run.jsonl":    `{"prediction": "4", "ground_truth": 4}` + "\n",
		"something_else.jsonl":    "not ours\n",
		"preds_longbook_qa.jsonl": "",
	})
	s := open(t, infinitebench.Options{Data: []string{dir}})
	want := []deem.Item{
		{ID: "passkey/0", Category: "passkey", References: []string{"7"}, Response: "7", Fields: map[string]string{"label": `"7"`}},
		{ID: "passkey/1", Category: "passkey", References: []string{"8"}, Response: "8", Fields: map[string]string{"ground_truth": "['8']"}},
		{ID: "code_debug/0", Category: "code_debug", References: []string{"f", "A"}, Response: "A"},
		{ID: "code_run/1", Category: "code_run", References: []string{"4"}, Response: "4", Fields: map[string]string{"label": "4"}},
		{ID: "math_calc/3", Category: "math_calc", References: []string{"[[1, -2]]"}, Response: "1 2", Fields: map[string]string{"label": "[[1, -2]]", "model": "gpt4"}},
		{ID: "math_find/0", Category: "math_find", References: []string{"88.0"}, Response: "88", Fields: map[string]string{"label": "88.0"}},
		{ID: "math_find/1", Category: "math_find", References: []string{"5"}, Response: "5", Fields: map[string]string{"label": "[5]", "ground_truth": "[5]"}},
	}
	if diff := cmp.Diff(want, itemsOf(t, s)); diff != "" {
		t.Error(diff)
	}
	if s.Len() != len(want) || len(s.Hash()) != 64 || s.Names()[0] != dir {
		t.Errorf("Len %d, Hash %q, Names %q", s.Len(), s.Hash(), s.Names())
	}
	if diff := cmp.Diff(want[:2], itemsOf(t, open(t, infinitebench.Options{Data: []string{dir}, Limit: 2}))); diff != "" {
		t.Error("with a limit of 2: ", diff)
	}
}

// TestRendering checks that a judge with a model is shown the label in Python's format.
func TestRendering(t *testing.T) {
	dir := folder(t, "x", map[string]string{
		"preds_passkey.jsonl":   `{"prediction": "", "ground_truth": ["7"]}` + "\n" + `{"prediction": "", "ground_truth": "7"}` + "\n",
		"preds_math_find.jsonl": `{"prediction": "", "ground_truth": [5.50]}` + "\n" + `{"prediction": "", "ground_truth": ["a", "b"]}` + "\n",
	})
	d, _ := builtin.Builtin("universal")
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"['7']", "7", "[5.5]", "['a', 'b']"}
	for i, it := range itemsOf(t, open(t, infinitebench.Options{Data: []string{dir}})) {
		req, err := p.Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(req.Messages[0].Content, "\nExpected: "+want[i]+"\n") {
			t.Errorf("%s: the prompt does not expect %s:\n%s", it.ID, want[i], req.Messages[0].Content)
		}
	}
}

// TestNotes checks the notes about odd but readable files.
func TestNotes(t *testing.T) {
	dir := folder(t, "x", map[string]string{
		"preds_passkey.jsonl":      `{"id": 0, "prediction": "7", "label": "7"}` + "\n" + `{"id": 0, "prediction": "7"}` + "\n" + `{"id": 2, "prediction": "7", "label": "7"}gi` + "\n",
		"preds_kv_retrieval.jsonl": "\n",
	})
	s := open(t, infinitebench.Options{Data: []string{dir}})
	notes := strings.Join(s.Notes(), "\n")
	for _, want := range []string{
		"preds_passkey.jsonl:3: the object is followed by", "the line is left out",
		"ids are missing or repeated", "1 line without a label",
		"11 tasks without an item", "passkey has 2 of 590", "preds_kv_retrieval.jsonl has no line",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note with %q in\n%s", want, notes)
		}
	}
	list := itemsOf(t, s)
	if len(list) != 2 || list[1].ID != "passkey/2" || list[1].Fields["label"] != `"XXXXXXXXXX"` {
		t.Errorf("items %+v, want two with the ids of their lines", list)
	}
	_, err := infinitebench.Open(t.Context(), infinitebench.Options{Data: []string{dir}, RequireAll: true})
	if p, ok := errors.AsType[*deem.Problems](err); !ok || p.List[0].Line != 3 {
		t.Errorf("RequireAll: %v, want line 3 as a problem", err)
	}
}

// TestProblems checks that invalid lines are reported with their location.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"preds_passkeys.jsonl", `{"prediction": "7", "label": "7"}`, "no task 'passkeys'; did you mean passkey?"},
		{"preds_passkey.jsonl", `{"prediction": "7"}`, `preds_passkey.jsonl:1: the first line has neither "ground_truth" nor "label"`},
		{"preds_passkey.jsonl", `{"label": "7"}`, `:1: the line has neither "prediction" nor "pred"`},
		{"preds_passkey.jsonl", `{"prediction": null, "label": "7"}`, `:1: "prediction" is not text, but None`},
		{"preds_passkey.jsonl", `{"prediction": 7, "label": "7"}`, `:1: "prediction" is not text, but 7`},
		{"preds_passkey.jsonl", `{"prediction": "7", "label": null}`, `:1: "label" is not text, number or list, but None`},
		{"preds_passkey.jsonl", `{"prediction": "7", "label": {"a": 1}}`, `:1: "label" is not text, number or list`},
		{"preds_passkey.jsonl", `nonsense`, `:1: not JSON`},
		{"preds_passkey.jsonl", ``, `there is no line in it`},
		{"other.jsonl", `{}`, `has no file preds_TASK.jsonl`},
	} {
		_, err := infinitebench.Open(t.Context(), infinitebench.Options{Data: []string{folder(t, "x", map[string]string{c.name: c.text})}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: error %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

// TestRefused checks that invalid options are rejected.
func TestRefused(t *testing.T) {
	a := folder(t, "a", map[string]string{"preds_passkey.jsonl": `{"prediction": "7", "label": "7"}`})
	b := folder(t, "b", map[string]string{"preds_passkey.jsonl": `{"prediction": "7", "label": "7"}`})
	for _, c := range []struct {
		o          infinitebench.Options
		want, hint string
	}{
		{infinitebench.Options{}, "no file to read", "--data"},
		{infinitebench.Options{Data: []string{a, b}}, "task passkey is in", "one system at a time"},
		{infinitebench.Options{Data: []string{filepath.Dir(a)}}, "has no file preds_TASK.jsonl", "did you mean " + a},
		{infinitebench.Options{Data: []string{a}, Responses: []string{"x"}}, "no separate file", "--data"},
		{infinitebench.Options{Data: []string{a}, RequireAll: true}, "the benchmark is not whole", "--require-all"},
		{infinitebench.Options{Data: []string{filepath.Join(a, "preds_passkeys.jsonl")}}, "no such file", "preds_passkey.jsonl"},
	} {
		_, err := infinitebench.Open(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(deem.HintOf(err), c.hint) {
			t.Errorf("%+v: error %v with hint %q, want %q with %q", c.o, err, deem.HintOf(err), c.want, c.hint)
		}
	}
}

// TestMetrics checks sums, intervals, unjudged items, and verdicts of another judge.
func TestMetrics(t *testing.T) {
	m := infinitebench.NewMetrics("")
	add := func(task string, score float64, trial int) {
		m.Add(deem.Record{
			Item: deem.Item{ID: fmt.Sprint(task, score), Category: task}, Judge: infinitebench.Name, Trial: trial,
			Verdict: &deem.Verdict{Label: "x", Score: score},
		})
	}
	add("math_find", 1, 0)
	add("math_find", 0, 0)
	add("math_find", 0, 1) // a second trial
	add("longbook_qa_eng", 0.04, 0)
	m.Add(deem.Record{Item: deem.Item{ID: "u", Category: "math_find"}, Judge: infinitebench.Name, Failure: deem.Failf(deem.Input, "x")})
	if got, want := m.README(), "| En.QA            |    < 5% |\n| Math.Find        |  50.00% |\n"; got != want {
		t.Errorf("README =\n%swant\n%s", got, want)
	}
	if got, want := m.Upstream(), "longbook_qa_eng 0.04\nmath_find 0.5\n"; got != want {
		t.Errorf("Upstream =\n%swant\n%s", got, want)
	}
	lines := m.Tasks()
	if find := lines[1]; find.N != 2 || find.Unjudged != 1 || find.Estimate.Method != "wilson" {
		t.Errorf("math_find: %+v, want 2 judged, 1 unjudged and Wilson's interval", find)
	}
	if all := m.Mean(); *all.Mean != 0.27 || all.Estimate.Lo >= 0.27 || all.Estimate.Hi <= 0.27 || all.N != 3 || all.Unjudged != 1 {
		t.Errorf("Mean = %+v, want 0.27 inside its interval", all)
	}
	var shown strings.Builder
	if err := m.Text(&shown); err != nil || !strings.Contains(shown.String(), "note: 1 item unjudged") {
		t.Errorf("Text: %v\n%s", err, shown.String())
	}
	if _, err := json.Marshal(m.JSON()); err != nil {
		t.Error(err)
	}
	m.Add(deem.Record{Item: deem.Item{ID: "o", Category: "math_find"}, Judge: "universal", Verdict: &deem.Verdict{Label: "CORRECT", Score: 1}})
	if m.Upstream() != "" || m.README() != "" || !strings.Contains(m.Warnings()[0], "universal") {
		t.Errorf("verdicts of universal are shown as upstream's: %q", m.Warnings())
	}
}
