package longmemeval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/longmemeval"
)

// write writes a file into a new folder and returns its path.
func write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func open(tb testing.TB, o longmemeval.Options) benchmark.Set {
	tb.Helper()
	s, err := longmemeval.Open(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func itemsOf(tb testing.TB, s benchmark.Set) []deem.Item {
	tb.Helper()
	var items []deem.Item
	for it, err := range s.Items() {
		if err != nil {
			tb.Fatal(err)
		}
		items = append(items, it)
	}
	return items
}

// TestNames reads responses under the names that datasets use, in any spelling.
func TestNames(t *testing.T) {
	data := write(t, "q.json", questions)
	for _, text := range []string{
		`[{"question_id": "q1", "model_answer": "15"}]`, `[{"Question ID": "q1", "Actual Output": "15"}]`, `[{"qid": "q1", "generatedAnswer": "15"}]`,
	} {
		s := open(t, longmemeval.Options{Data: []string{data}, Responses: []string{write(t, "a.json", text)}})
		if list := itemsOf(t, s); len(list) != 1 || list[0].Response != "15" {
			t.Errorf("%s: %+v", text, list)
		}
	}
	s := open(t, longmemeval.Options{Data: []string{data}, Responses: []string{write(t, "a.csv", "Question ID,Actual Output\nq1,15\n")}})
	if list := itemsOf(t, s); len(list) != 1 || list[0].Response != "15" {
		t.Errorf("csv: %+v", list)
	}
}

const questions = `[
  {"question_id": "q1", "question_type": "multi-session", "question": "How many {}?", "answer": 15,
   "question_date": "2023/05/20 (Sat) 02:21", "haystack_sessions": [[{"role": "user", "content": "hi"}]]},
  {"question_id": "q2", "question_type": "temporal-reasoning", "question": "When?", "answer": "May"},
  {"question_id": "q3_abs", "question_type": "whatever", "question": "Who?", "answer": "Nobody said", "question_date": null}
]`

var wantItems = []deem.Item{
	{ID: "q3_abs", Category: "whatever", Question: "Who?", References: []string{"Nobody said"}, Response: ""},
	{
		ID: "q1", Category: "multi-session", Question: "How many {}?", References: []string{"15"}, Response: "fifteen",
		Fields: map[string]string{"question_date": "2023/05/20 (Sat) 02:21"},
	},
	{ID: "q2", Category: "temporal-reasoning", Question: "When?", References: []string{"May"}, Response: "2.5"},
}

const responses = `{"question_id": "q3_abs", "hypothesis": ""}
{"question_id": "q1", "hypothesis": "fifteen", "model": "m"}

{"question_id": "q2", "hypothesis": 2.50}
`

// TestOpen checks that items are in the order of the responses, for every file format.
func TestOpen(t *testing.T) {
	jsonl := strings.NewReplacer("[\n  {", "{", "},\n  {", "}\n{", "}\n]", "}", ",\n   ", ", ").Replace(questions)
	array := "[" + strings.Join(strings.Split(strings.Replace(strings.TrimSpace(responses), "\n\n", "\n", 1), "\n"), ",") + "]"
	joined := `{"question_id": "q3_abs", "question_type": "whatever", "question": "Who?", "answer": "Nobody said", "hypothesis": ""}
{"id": "q1", "category": "multi-session", "question": "How many {}?", "reference": 15, "response": "fifteen", "question_date": "2023/05/20 (Sat) 02:21"}
{"question_id": "q2", "question_type": "temporal-reasoning", "question": "When?", "ground_truth": "May", "prediction": 2.5}
`
	var hash string
	for name, o := range map[string]longmemeval.Options{
		"array, lines":   {Data: []string{write(t, "d.json", questions)}, Responses: []string{write(t, "r.jsonl", responses)}},
		"lines, array":   {Data: []string{write(t, "d.jsonl", jsonl)}, Responses: []string{write(t, "r.json", array)}},
		"data alone":     {Data: []string{write(t, "d.jsonl", joined)}},
		"response alone": {Responses: []string{write(t, "r.jsonl", joined)}},
		"standard input": {Data: []string{write(t, "d.json", questions)}, Responses: []string{"-"}, Stdin: strings.NewReader(responses), RequireAll: true},
	} {
		s := open(t, o)
		if diff := cmp.Diff(wantItems, itemsOf(t, s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.Len() != 3 || len(s.Notes()) != 0 {
			t.Errorf("%s: %d items, notes %q, want 3 and none", name, s.Len(), s.Notes())
		}
		if diff := cmp.Diff(append(append([]string(nil), o.Data...), o.Responses...), s.Names()); diff != "" {
			t.Errorf("%s: names (-want +got):\n%s", name, diff)
		}
		if hash == "" {
			hash = s.Hash()
		}
		if want, err := deem.DatasetHash(s.Items()); s.Hash() != want || s.Hash() != hash || err != nil {
			t.Errorf("%s: hash %s, want %s", name, s.Hash(), hash)
		}
	}
}

func TestLimit(t *testing.T) {
	o := longmemeval.Options{Data: []string{write(t, "d.json", questions)}, Responses: []string{write(t, "r.jsonl", responses)}}
	all := open(t, o)
	o.Limit = 2
	if s := open(t, o); s.Len() != 2 || s.Hash() == all.Hash() || itemsOf(t, s)[1].ID != "q1" {
		t.Errorf("%d items, want the first 2 and a hash of their own", s.Len())
	}
	o.Limit = 7
	if s := open(t, o); s.Len() != 3 || s.Hash() != all.Hash() {
		t.Errorf("%d items, want all 3", s.Len())
	}
}

// TestNotes checks that everything unmatched is named and excluded from the counts.
func TestNotes(t *testing.T) {
	var data, answers strings.Builder
	for i := range 20 {
		fmt.Fprintf(&data, "{\"question_id\": \"q%d\", \"question_type\": \"multi-session\", \"question\": \"?\", \"answer\": \"a\"}\n", i)
	}
	data.WriteString(`{"question_id": "s", "question_type": "multi-session_abs", "question": "?", "answer": "a"}` + "\n")
	for _, id := range []string{"q19", "nobody", "s", "q3"} {
		fmt.Fprintf(&answers, "{\"question_id\": %q, \"hypothesis\": \"h\"}\n", id)
	}
	o := longmemeval.Options{Data: []string{write(t, "d.jsonl", data.String())}, Responses: []string{write(t, "r.jsonl", answers.String())}}
	s := open(t, o)
	if s.Len() != 3 {
		t.Errorf("%d items, want 3", s.Len())
	}
	want := []string{
		"1 response to no question of the data, left out: nobody",
		"18 questions without a response, in no number: q0, q1, q2, q4, q5, q6, q7, q8, q9, q10, ...",
		"1 question of a type that ends in _abs, for which only the reading seed has a prompt: s",
	}
	if diff := cmp.Diff(want, s.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}

	o.RequireAll = true
	_, err := longmemeval.Open(t.Context(), o)
	ps, ok := errors.AsType[*deem.Problems](err)
	if !ok || ps.Total != 18 || ps.List[3].Line != 5 || ps.List[3].Message != `question "q4" has no response` {
		t.Errorf("RequireAll: %v, want 18 problems, the fourth at line 5", err)
	}
}

// TestBadInput makes each mistake once and checks the reported location.
func TestBadInput(t *testing.T) {
	const good = `{"question_id": "q1", "question_type": "multi-session", "question": "?", "answer": "a"}` + "\n"
	const answer = `{"question_id": "q1", "hypothesis": "h"}` + "\n"
	for name, c := range map[string]struct{ data, responses, want, hint string }{
		"question twice":      {good + good, answer, `d.jsonl:2: question "q1" was given before, at d.jsonl:1`, ""},
		"response twice":      {good, answer + answer, `r.jsonl:2: question "q1" was answered before, at r.jsonl:1`, ""},
		"data is not JSON":    {good + "{'question_id': 1}\n", answer, "d.jsonl:2: not JSON", "double quotes"},
		"response cut off":    {good, answer + `{"question_id": "q2", "hypo`, "r.jsonl:2: not JSON", ""},
		"response a list":     {good, answer + "[1]\n", "r.jsonl:2: a row must be an object", ""},
		"no id":               {good + `{"question": "?"}`, answer, "d.jsonl:2: the row has no question_id", ""},
		"empty id":            {good, `{"question_id": "", "hypothesis": "h"}`, "r.jsonl:1: the row has no question_id", ""},
		"unknown type":        {strings.ReplaceAll(good, "multi-session", "multi_sesion"), answer, `d.jsonl:1: question "q1" has the unknown question_type "multi_sesion"; did you mean multi-session? known are single-session-user, single-session-preference, single-session-assistant, multi-session, temporal-reasoning, knowledge-update`, ""},
		"far type":            {strings.ReplaceAll(good, "multi-session", "locomo"), answer, `has the unknown question_type "locomo"; known are`, ""},
		"no type":             {`{"question_id": "q1", "question": "?", "answer": "a"}`, answer, `question "q1" has no question_type; known are`, ""},
		"no question":         {strings.Replace(good, `"?"`, `""`, 1), answer, `d.jsonl:1: question "q1" has no text`, ""},
		"no answer":           {strings.Replace(good, `"a"`, `null`, 1), answer, `d.jsonl:1: question "q1" has no answer to judge by`, ""},
		"no hypothesis":       {good, `{"question_id": "q1"}`, `r.jsonl:1: question "q1" has no hypothesis`, "empty string"},
		"null hypothesis":     {good, `{"question_id": "q1", "hypothesis": null}`, `r.jsonl:1: question "q1" has no hypothesis`, "empty string"},
		"ids do not match":    {good, `{"question_id": "1", "hypothesis": "h"}`, "no response answers a question of the data", `the first response has "1", the first question "q1"`},
		"data without any":    {good, "-", "no row of d.jsonl has a response", "hypothesis"},
		"responses alone":     {"-", answer, `r.jsonl:1: question "q1" has no question_type`, "name the published data"},
		"invalid UTF-8":       {good, "{\"question_id\": \"q1\", \"hypothesis\": \"\xff\"}\n", "r.jsonl:1:", ""},
		"wrong on both sides": {good + good, answer + answer, "r.jsonl:2: question", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			var o longmemeval.Options
			for file, text := range map[string]string{"d.jsonl": c.data, "r.jsonl": c.responses} {
				if text == "-" {
					continue
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if file == "d.jsonl" {
					o.Data = []string{file}
				} else {
					o.Responses = []string{file}
				}
			}
			_, err := longmemeval.Open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if hint := deem.HintOf(err); !strings.Contains(hint, c.hint) {
				t.Errorf("hint %q, want %q", hint, c.hint)
			}
		})
	}
}

func TestNothingToRead(t *testing.T) {
	data := write(t, "d.json", questions)
	for name, o := range map[string]longmemeval.Options{
		"no file to read": {},
		"only once":       {Data: []string{"-"}, Responses: []string{"-"}, Stdin: strings.NewReader(questions)},
		"no such file":    {Data: []string{data}, Responses: []string{data + ".missing"}},
	} {
		if _, err := longmemeval.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := longmemeval.Open(ctx, longmemeval.Options{Data: []string{data}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want that error", err)
	}
}

// TestHaystacks reads a file with large haystacks, like the published ones, and checks that
// they are not kept in memory.
func TestHaystacks(t *testing.T) {
	const rows, turns = 40, 400
	turn := `{"role":"user","content":"` + strings.Repeat("hay ", 256) + `"}`
	haystack := "[[" + strings.TrimSuffix(strings.Repeat(turn+",", turns), ",") + "]]"
	var data, answers strings.Builder
	for i := range rows {
		fmt.Fprintf(&data, "{\"question_id\":\"q%d\",\"question_type\":\"multi-session\",\"haystack_sessions\":%s,\"question\":\"?\",\"answer\":%d}\n", i, haystack, i)
		fmt.Fprintf(&answers, "{\"question_id\":\"q%d\",\"hypothesis\":\"h\"}\n", i)
	}
	o := longmemeval.Options{Data: []string{write(t, "d.jsonl", data.String())}, Responses: []string{write(t, "r.jsonl", answers.String())}}
	size := data.Len()
	data.Reset()

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := open(t, o)
	runtime.ReadMemStats(&after)
	if s.Len() != rows {
		t.Errorf("%d items, want %d", s.Len(), rows)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(size)/3 {
		t.Errorf("opening %d bytes allocated %d, want less than a third", size, got)
	}
}
