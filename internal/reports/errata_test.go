package reports_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/reports"
)

// write writes a file into a temporary folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string, b *benchmark.Benchmark) *reports.ErrataList {
	t.Helper()
	e, err := reports.ReadErrata(t.Context(), file, b)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// each yields items like a dataset.
func each(items ...deem.Item) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

func match(t *testing.T, e *reports.ErrataList, items ...deem.Item) *reports.Matched {
	t.Helper()
	m, err := e.Match(each(items...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReadForms reads the same list from each format, with our column names and with
// others.
func TestReadForms(t *testing.T) {
	want := []reports.Erratum{
		{ID: "q1", Question: "Who?", Category: "2", Kind: "WRONG", Published: []string{"Ann"}, References: []string{"Bob"}, Corrupts: true},
		{ID: "q2", Kind: "wrong citation", References: []string{"x", "y"}},
		{Question: "When?", Kind: "typo"},
		{ID: "q4", Kind: "citation is the answer", Corrupts: true},
	}
	for name, text := range map[string]string{
		"ours.jsonl": `{"id":"q1","question":"Who?","category":2,"kind":"WRONG","published":"Ann","corrected":"Bob"}
{"id":"q2","kind":"wrong citation","corrected":["x", "y"]}
{"question":" When? ","kind":"typo","corrupts":false}
{"id":"q4","kind":"citation is the answer","corrupts":"yes"}`,
		"theirs.json": `[{"question_id":"q1","question":"Who?","category":2,"error_type":"WRONG","golden_answer":"Ann","correct_answer":"Bob"},
{"question_id":"q2","error_type":"wrong citation","correct_answer":["x", "y"]},
{"question":"When?","error_type":"typo","corrupts_score":"no"},
{"question_id":"q4","error_type":"citation is the answer","corrupts_score":1}]`,
		"spelled.json": `{"conv-1":[{"questionId":"q1","Question":"Who?","Question Type":2,"errorType":"WRONG","ground_truth":"Ann","correctAnswer":"Bob"},
{"questionId":"q2","errorType":"wrong citation","correctAnswer":["x", "y"]}],
"conv-2":[{"query":"When?","errorType":"typo","corrupts_score":"no"},
{"uid":"q4","errorType":"citation is the answer","corrupts_score":1}]}`,
		"table.csv": "id,question,category,kind,published,corrected,corrupts\n" +
			"q1,Who?,2,WRONG,Ann,Bob,\nq2,,,wrong citation,,\"[\"\"x\"\", \"\"y\"\"]\",\n,When?,,typo,,,no\nq4,,,citation is the answer,,,Y\n",
	} {
		e := read(t, write(t, name, text), nil)
		if diff := cmp.Diff(want, e.List); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if e.Name != name || len(e.Hash) != 64 {
			t.Errorf("%s: name %q, hash %q", name, e.Name, e.Hash)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, "errata.jsonl: there is no erratum in it"},
		{`{"kind": "wrong"}`, `errata.jsonl:1: the erratum names no item: it has neither "id" nor "question"`},
		{"{\"id\": \"a\"}\n{\"id\": \"a\", \"kind\": \"x\"}", "errata.jsonl:2: there was an erratum of a before"},
		{`{"id": "a", "corrupts": "maybe"}`, `errata.jsonl:1: whether the fault can move a score is "maybe", and not yes or no`},
		{"{\"id\": \"a\"\n", "errata.jsonl:1: not JSON"},
	} {
		file := write(t, "errata.jsonl", tt.text)
		_, err := reports.ReadErrata(t.Context(), file, nil)
		if got := strings.ReplaceAll(fmt.Sprint(err), filepath.Dir(file)+"/", ""); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: error %s, want %s", tt.text, got, tt.want)
		}
	}
	if _, err := reports.ReadErrata(t.Context(), filepath.Join(t.TempDir(), "none.json"), nil); err == nil {
		t.Error("no error for a file that is not there")
	}
}

// TestMatch checks which items an erratum applies to if ids and questions conflict.
func TestMatch(t *testing.T) {
	const list = `{"id": "a1", "question": "Which snakes?", "corrected": "Two"}
{"question": "Which books?", "category": 4, "corrected": "None"}
{"question": "Which  GAMES?", "kind": "cannot be answered"}
{"id": "a3", "kind": "wrong citation", "corrected": "same"}
{"question": "Which dog?", "published": "Rex", "corrected": "Miso"}
{"id": "a9", "question": "Which cat?", "corrected": "Tom"}
`
	for _, tt := range []struct {
		name  string
		items []deem.Item
		want  string // item and corrected reference of each faulty item; "?" if unknown
	}{
		{"by id", []deem.Item{{ID: "a1"}}, "a1=Two"},
		{"an id means one item of several with a question", []deem.Item{{ID: "b", Question: "Which snakes?"}, {ID: "a1", Question: "which  snakes?"}}, "a1=Two"},
		{"an id that the dataset does not have", []deem.Item{{ID: "b", Question: "Which snakes?"}, {ID: "c", Question: "Which snakes?"}}, "b=Two c=Two"},
		{"an id of other numbers", []deem.Item{{ID: "a1", Question: "Which cat?"}, {ID: "a9", Question: "Which snakes?"}}, "a1=Tom a9=Two"},
		{"category", []deem.Item{{ID: "x", Question: "Which books?", Category: "4"}, {ID: "y", Question: "Which books?", Category: "5"}, {ID: "z", Question: "Which books?"}}, "x=None z=None"},
		{"nobody knows what is right", []deem.Item{{ID: "x", Question: "Which games?"}}, "x=?"},
		{"only cited wrongly", []deem.Item{{ID: "a3"}}, ""},
		{"another reference", []deem.Item{{ID: "x", Question: "Which dog?", References: []string{"Fido"}}, {ID: "y", Question: "Which dog?", References: []string{"rex"}}}, "y=Miso"},
		{"mended already", []deem.Item{{ID: "a1", References: []string{"two"}}}, ""},
		{"nothing", []deem.Item{{ID: "q", Question: "Which bird?"}}, ""},
	} {
		m := match(t, read(t, write(t, "list.jsonl", list), nil), tt.items...)
		var got []string
		for _, it := range tt.items {
			if _, ok := m.Of(it); !ok {
				continue
			}
			right := "?"
			if fixed, ok := m.Correct(it); ok {
				right = strings.Join(fixed.References, "|")
			}
			got = append(got, it.ID+"="+right)
		}
		if s := strings.Join(got, " "); s != tt.want || m.Faulty() != len(got) {
			t.Errorf("%s: faulty %q, %d of them, want %q", tt.name, s, m.Faulty(), tt.want)
		}
	}
}

// TestCorrectKeepsItem checks that Correct does not modify its argument.
func TestCorrectKeepsItem(t *testing.T) {
	m := match(t, read(t, write(t, "l.jsonl", `{"id": "a", "corrected": "new"}`), nil), deem.Item{ID: "a", References: []string{"old"}})
	it := deem.Item{ID: "a", References: []string{"old"}, Response: "r"}
	fixed, ok := m.Correct(it)
	if !ok || fixed.References[0] != "new" || it.References[0] != "old" || fixed.Response != "r" {
		t.Errorf("Correct = %+v, %v; the item itself is %+v", fixed, ok, it)
	}
	fixed.References[0] = "other"
	if again, _ := m.Correct(it); again.References[0] != "new" {
		t.Errorf("the list was changed: %q", again.References)
	}
}

// TestCorrectFields checks that no field still contains the wrong reference, in any form
// that the readers of datasets and benchmarks use, and that other fields stay.
func TestCorrectFields(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		old         []string
		corrected   string // JSON
		want        string // "-" if the field is removed
	}{
		{"ground_truth", "['a cat']", []string{"a cat"}, `["a dog"]`, "['a dog']"},
		{"ground_truth", "['a', 'b']", []string{"a", "b"}, `"c"`, "['c']"},
		{"ground_truth", "a", []string{"a", "b"}, `["c", "d"]`, "c"},
		{"ground_truth", "[1, 2]", []string{"1", "2"}, `[3, 4]`, "[3, 4]"},
		{"ground_truth", "something else", []string{"a"}, `"c"`, "-"},
		{"label", `["a", "b"]`, []string{"a", "b"}, `["c", "d"]`, `["c", "d"]`},
		{"label", `"a"`, []string{"a"}, `"c"`, `"c"`},
		{"label", `"a"`, []string{"a"}, `["c", "d"]`, "-"},
		{"label", "88", []string{"88"}, `89`, "89"},
		{"label", `["\u0061",  "b"]`, []string{"a", "b"}, `"c"`, "-"},
		{"label", "CORRECT", []string{"a"}, `"c"`, "CORRECT"},
		{"city", "Rome", []string{"Rome"}, `"Oslo"`, "Rome"},
	} {
		it := deem.Item{ID: "x", References: tt.old, Fields: map[string]string{tt.name: tt.value}}
		list := fmt.Sprintf(`{"id": "x", "corrected": %s}`, tt.corrected)
		fixed, ok := match(t, read(t, write(t, "l.jsonl", list), nil), it).Correct(it)
		got, has := fixed.Fields[tt.name]
		if !has {
			got = "-"
		}
		if !ok || got != tt.want || it.Fields[tt.name] != tt.value {
			t.Errorf("%s %q with %q corrected to %s: %q, want %q; the item itself has %q", tt.name, tt.value, tt.old, tt.corrected, got, tt.want, it.Fields[tt.name])
		}
	}
}
