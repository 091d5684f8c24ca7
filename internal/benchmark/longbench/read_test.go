package longbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/longbench"
	builtin "deem/judge"
)

// folder writes files into a folder of predictions and returns it.
func folder(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.FromSlash(name))
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

// editionOf returns the edition in the items, "" for V1.
func editionOf(t *testing.T, s benchmark.Set) string {
	t.Helper()
	return itemsOf(t, s)[0].Fields["edition"]
}

// open opens a set that the test closes.
func open(t *testing.T, o longbench.Options) benchmark.Set {
	t.Helper()
	s, err := longbench.Open(t.Context(), o)
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

// TestOpen reads a folder: tasks in upstream's order, lines as ids, the classes of the last
// line, and the first of several answers for judges with a model.
func TestOpen(t *testing.T) {
	dir := folder(t, "pred/x", map[string]string{
		"trec.jsonl": `{"pred": "a", "answers": ["a"], "all_classes": ["a", "b"], "length": 10}` + "\n\n" +
			`{"pred": "b", "answers": ["b"], "all_classes": ["b"], "length": 11}` + "\n",
		"musique.jsonl": `{"pred": "x", "answers": ["y", "z"], "all_classes": null, "length": 12}`,
		"result.json":   "{}",
		"lcc.v2.jsonl":  `{"pred": "", "answers": []}`,
	})
	s := open(t, longbench.Options{Data: []string{dir}})
	want := []deem.Item{
		{ID: "musique/1", Category: "musique", References: []string{"y", "z"}, Response: "x", Fields: map[string]string{"length": "12", "ground_truth": "y"}},
		{ID: "trec/1", Category: "trec", References: []string{"a"}, Response: "a", Fields: map[string]string{"length": "10", "all_classes": `["a", "b"]`, "upstream_classes": `["b"]`}},
		{ID: "trec/3", Category: "trec", References: []string{"b"}, Response: "b", Fields: map[string]string{"length": "11", "all_classes": `["b"]`, "upstream_classes": `["b"]`}},
		{ID: "lcc/1", Category: "lcc", References: []string{}},
	}
	if diff := cmp.Diff(want, itemsOf(t, s)); diff != "" {
		t.Error(diff)
	}
	if s.Len() != len(want) || len(s.Hash()) != 64 || s.Names()[0] != dir || editionOf(t, s) != "" {
		t.Errorf("Len %d, Hash %q, Names %q, Edition %s", s.Len(), s.Hash(), s.Names(), editionOf(t, s))
	}
	notes := strings.Join(s.Notes(), "\n")
	for _, note := range []string{"18 tasks without an item", "trec has 2 of 200", "1 item without a reference"} {
		if !strings.Contains(notes, note) {
			t.Errorf("no note with %q in\n%s", note, notes)
		}
	}
	// The classes are those of the file's last line even if it is beyond the limit.
	if diff := cmp.Diff(want[:2], itemsOf(t, open(t, longbench.Options{Data: []string{dir}, Limit: 2}))); diff != "" {
		t.Error("with a limit of 2: ", diff)
	}
}

// TestRendering checks that a judge with a model is shown only the first answer, as
// published programs do.
func TestRendering(t *testing.T) {
	dir := folder(t, "pred/x", map[string]string{
		"musique.jsonl": `{"pred": "x", "answers": ["y", "z"]}` + "\n" + `{"pred": "x", "answers": ["w"]}`,
	})
	d, _ := builtin.Builtin("universal")
	p, err := d.Protocol("")
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range itemsOf(t, open(t, longbench.Options{Data: []string{dir}})) {
		req, err := p.Request(it)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"y", "w"}[i]; !strings.Contains(req.Messages[0].Content, "\nExpected: "+want+"\n") {
			t.Errorf("%s: the prompt does not expect %s:\n%s", it.ID, want, req.Messages[0].Content)
		}
	}
}

// TestEven reads LongBench-E, detected by its folder, and reports by length.
func TestEven(t *testing.T) {
	dir := folder(t, "pred_e/x", map[string]string{
		"qasper.jsonl": `{"pred": "cat", "answers": ["cat"], "length": 3999}` + "\n" + `{"pred": "dog", "answers": ["cat"], "length": 3000}` + "\n" +
			`{"pred": "grey cat", "answers": ["cat"], "length": 4000}` + "\n",
		"vcsum.jsonl": `{"pred": "", "answers": ["x"], "length": 8000.0}`,
	})
	s := open(t, longbench.Options{Data: []string{dir}})
	if editionOf(t, s) != longbench.E || !strings.Contains(strings.Join(s.Notes(), "\n"), "vcsum is not one of the 13") {
		t.Errorf("edition %s, notes %q", editionOf(t, s), s.Notes())
	}
	m := longbench.NewMetrics("")
	for _, it := range itemsOf(t, s) {
		m.Add(record(t, upstream(t), it))
	}
	want := `{
    "qasper": {
        "0-4k": 50.0,
        "4-8k": 66.67,
        "8k+": NaN
    },
    "vcsum": {
        "0-4k": NaN,
        "4-8k": NaN,
        "8k+": 0.0
    }
}`
	if diff := cmp.Diff(want, m.Upstream()); diff != "" {
		t.Error(diff)
	}
	if mean := m.Mean(); len(mean.Buckets) != 3 || *mean.Buckets[0].Score != 50 || mean.N != 4 {
		t.Errorf("mean %+v, want 50 below 4k", mean)
	}
	if _, err := longbench.Open(t.Context(), longbench.Options{Data: []string{folder(t, "pred_e/y", map[string]string{
		"qasper.jsonl": `{"pred": "cat", "answers": ["cat"]}`,
	})}}); err == nil || !strings.Contains(err.Error(), `no "length"`) {
		t.Errorf("no length: %v", err)
	}
}

// v2 is two rows of LongBench v2 as written by pred.py, and one that has only the letter
// and a numeric id.
const v2 = `{"_id": "a", "domain": "D1", "sub_domain": "S", "difficulty": "easy", "length": "short", "question": "Q?", "answer": "B", "response": "The correct answer is (B)", "pred": "B", "judge": true, "context": "..."}
{"_id": "b", "domain": "D2", "difficulty": "hard", "length": "long", "answer": "C", "response": "Well.", "pred": null, "judge": false}
{"_id": 3, "domain": "D1", "difficulty": "hard", "length": "medium", "answer": "C", "pred": "C"}
`

func TestV2(t *testing.T) {
	for name, text := range map[string]string{"m.jsonl": v2, "m.json": "[" + strings.ReplaceAll(strings.TrimSpace(v2), "\n", ",") + "]"} {
		file := filepath.Join(folder(t, "results", map[string]string{name: text}), name)
		s := open(t, longbench.Options{Data: []string{file}})
		want := deem.Item{
			ID: "a", Category: "D1", Question: "Q?", References: []string{"B"}, Response: "The correct answer is (B)",
			Fields: map[string]string{"edition": "v2", "difficulty": "easy", "length": "short", "sub_domain": "S"},
		}
		items := itemsOf(t, s)
		if diff := cmp.Diff(want, items[0]); diff != "" || editionOf(t, s) != longbench.V2 {
			t.Errorf("edition %s: %s", editionOf(t, s), diff)
		}
		m := longbench.NewMetrics("")
		for _, it := range items {
			m.Add(record(t, upstream(t), it))
		}
		if got, want := m.Upstream(), "Overall\tEasy\tHard\tShort\tMedium\tLong\n66.7\t100.0\t50.0\t100.0\t100.0\t0.0"; got != want {
			t.Errorf("Upstream =\n%s\nwant\n%s", got, want)
		}
		if lines := m.Choices(); len(lines) != 8 || lines[6].Name != "D1" || *lines[6].Score != 100 || lines[0].Estimate.Method != "wilson" {
			t.Errorf("lines %+v, want six and two domains", lines)
		}
	}
}

// TestStdin checks that LongBench v2 needs no file name.
func TestStdin(t *testing.T) {
	s := open(t, longbench.Options{Data: []string{"-"}, Stdin: strings.NewReader(v2)})
	if s.Len() != 3 || editionOf(t, s) != longbench.V2 {
		t.Errorf("%d items of edition %s, want 3 of v2", s.Len(), editionOf(t, s))
	}
}

// TestProblems checks that invalid lines are reported with their location.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"narativeqa.jsonl", `{"pred": "7", "answers": ["7"]}`, "narativeqa.jsonl:1: LongBench has no task 'narativeqa'; did you mean narrativeqa?"},
		{"qasper.jsonl", `{"pred": "7", "answers": ["7"]}` + "\n" + `{"pred": "7"}`, `qasper.jsonl:2: the line has no "answers"`},
		{"qasper.jsonl", `{"answers": ["7"]}`, `:1: the line has no "pred"`},
		{"qasper.jsonl", `{"pred": null, "answers": ["7"]}`, `:1: the line has no "pred"`},
		{"qasper.jsonl", `{"pred": 7, "answers": ["7"]}`, `:1: "pred" is not text, but 7`},
		{"qasper.jsonl", `{"pred": "7", "answers": "seven"}`, `:1: "answers" is not a list of texts, but seven`},
		{"qasper.jsonl", `{"pred": "7", "answers": [7]}`, `:1: "answers" has an element that is not text, but 7`},
		{"qasper.jsonl", `{"pred": "7", "answers": ["7"], "length": "long"}`, `:1: "length" is not a number, but long`},
		{"qasper.jsonl", `{"pred": "7", "answers": ["7"]}gi`, `:1: the object is followed by "gi"`},
		{"trec.jsonl", `{"pred": "7", "answers": ["7"], "all_classes": null}`, `:1: the line has no "all_classes"`},
		{"qasper.jsonl", ``, `there is no line in it`},
		{"m.jsonl", `{"_id": "a", "difficulty": "easy", "length": "short", "answer": "E", "response": ""}`, `:1: the answer is none of the options A to D, but E`},
		{"m.jsonl", `{"_id": "", "difficulty": "easy", "length": "short", "answer": "A", "response": ""}`, `:1: the line has no "_id"`},
		{"m.jsonl", `{"_id": "a", "difficulty": "easy", "length": "short", "answer": "A"}`, `:1: the line has neither "response" nor "pred"`},
		{"m.jsonl", v2 + v2, `m.jsonl:4: question "a" was given before, at line 1`},
	} {
		_, err := longbench.Open(t.Context(), longbench.Options{Data: []string{folder(t, "x", map[string]string{c.name: c.text})}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %.80s: error %v, want %q", c.name, c.text, err, c.want)
		}
		if _, ok := errors.AsType[*deem.Problems](err); strings.HasPrefix(c.want, ":") && (!ok || deem.HintOf(err) == "") {
			t.Errorf("%s: %v with hint %q, want problems with a hint", c.name, err, deem.HintOf(err))
		}
	}
}

// TestRefused checks that invalid options are rejected.
func TestRefused(t *testing.T) {
	line := `{"pred": "7", "answers": ["7"]}`
	a, b := folder(t, "pred/a", map[string]string{"qasper.jsonl": line}), folder(t, "pred/b", map[string]string{"qasper.jsonl": line})
	two := folder(t, "results", map[string]string{"m.jsonl": v2, "n.jsonl": v2})
	for _, c := range []struct {
		o          longbench.Options
		want, hint string
	}{
		{longbench.Options{}, "no file to read", "--data"},
		{longbench.Options{Data: []string{a, b}}, "task qasper is in", "one system at a time"},
		{longbench.Options{Data: []string{filepath.Dir(a)}}, "has no file TASK.jsonl", "did you mean " + a},
		{longbench.Options{Data: []string{a}, Responses: []string{"x"}}, "no separate file", "--data"},
		{longbench.Options{Data: []string{a}, With: map[string]string{"edition": "v3"}}, `no edition "v3"`, "v1, e, v2"},
		{longbench.Options{Data: []string{a}, RequireAll: true}, "the benchmark is not whole", "--require-all"},
		{longbench.Options{Data: []string{filepath.Join(a, "qasperr.jsonl")}}, "no such file", "qasper.jsonl"},
		{longbench.Options{Data: []string{two}}, "one file for each system", ""},
		{longbench.Options{Data: []string{"-"}, Stdin: strings.NewReader(line)}, "no task 'stdin'", "the name of the file"},
	} {
		_, err := longbench.Open(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(deem.HintOf(err), c.hint) {
			t.Errorf("%+v: error %v with hint %q, want %q with %q", c.o, err, deem.HintOf(err), c.want, c.hint)
		}
	}
}

// TestChanged checks that a file that changes between checking and judging is an error.
func TestChanged(t *testing.T) {
	dir := folder(t, "pred/a", map[string]string{"qasper.jsonl": `{"pred": "7", "answers": ["7"]}`})
	s := open(t, longbench.Options{Data: []string{dir}})
	if err := os.WriteFile(filepath.Join(dir, "qasper.jsonl"), []byte(`{"pred": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range s.Items() {
		last = err
	}
	if last == nil {
		t.Error("the items of a changed file were read")
	}
}

// TestCancelled checks that cancellation is returned as the only error.
func TestCancelled(t *testing.T) {
	dir := folder(t, "pred/a", map[string]string{"qasper.jsonl": `{"pred": "7", "answers": ["7"]}`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := longbench.Open(ctx, longbench.Options{Data: []string{dir}}); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "checked") {
		t.Errorf("Open: %v, want context.Canceled alone", err)
	}
}

// TestMetrics checks Python's rounding, intervals, unjudged items, another judge and the
// other reading.
func TestMetrics(t *testing.T) {
	m := longbench.NewMetrics("")
	add := func(m *longbench.Metrics, judge, task string, score float64, trial int) {
		m.Add(deem.Record{Item: deem.Item{ID: task, Category: task}, Judge: judge, Trial: trial, Verdict: &deem.Verdict{Label: "x", Score: score}})
	}
	for range 7 {
		add(m, longbench.Name, "trec", 0, 0)
	}
	add(m, longbench.Name, "trec", 1, 0)
	add(m, longbench.Name, "trec", 1, 1) // a second trial
	add(m, longbench.Name, "qasper", 0.10125, 0)
	m.Add(deem.Record{Item: deem.Item{ID: "u", Category: "qasper"}, Judge: longbench.Name, Failure: deem.Failf(deem.Input, "x")})
	want := "{\n    \"trec\": 12.5,\n    \"qasper\": 10.12\n}"
	if got := m.Upstream(); got != want {
		t.Errorf("Upstream =\n%s\nwant\n%s", got, want)
	}
	lines := m.Tasks()
	if lines[0].Name != "qasper" || lines[0].Unjudged != 1 || lines[1].Estimate.Method != "wilson" || lines[1].N != 8 {
		t.Errorf("lines %+v", lines)
	}
	if mean := m.Mean(); *mean.Score != 11.31 || mean.Estimate.Lo >= 0.113 || mean.Estimate.Hi <= 0.114 || mean.Unjudged != 1 {
		t.Errorf("Mean = %+v, want 11.31 inside its interval", mean)
	}
	var shown strings.Builder
	if err := m.Text(&shown); err != nil || !strings.Contains(shown.String(), "note: 1 item unjudged") {
		t.Errorf("Text: %v\n%s", err, shown.String())
	}
	if _, err := json.Marshal(m.JSON()); err != nil {
		t.Error(err)
	}
	for reading, judge := range map[string]string{longbench.Fixed: longbench.Name, longbench.Upstream: "universal"} {
		other := longbench.NewMetrics(reading)
		add(other, judge, "qasper", 1, 0)
		if other.Upstream() != "" || len(other.Warnings()) != 1 {
			t.Errorf("verdicts of %s under %s are shown as upstream's: %q", judge, reading, other.Warnings())
		}
	}
}
