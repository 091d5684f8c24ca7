package halumem_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/halumem"
)

// openText opens a results file with the given text.
func openText(t *testing.T, text string, o halumem.Options) (benchmark.Set, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x_eval_results.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Data = []string{name}
	s, err := halumem.Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// itemsOf returns the items of a results file.
func itemsOf(t *testing.T, text string, o halumem.Options) []deem.Item {
	t.Helper()
	s, err := openText(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, s)
}

func collect(t *testing.T, s benchmark.Set) []deem.Item {
	t.Helper()
	var items []deem.Item
	for it, err := range s.Items() {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	if len(items) != s.Len() {
		t.Errorf("%d items, but Len says %d", len(items), s.Len())
	}
	return items
}

// find returns the item with the given id.
func find(t *testing.T, text, id string) deem.Item {
	t.Helper()
	items := itemsOf(t, text, halumem.Options{})
	i := slices.IndexFunc(items, func(it deem.Item) bool { return it.ID == id })
	if i < 0 {
		t.Fatalf("no item %s among %v", id, ids(items))
	}
	return items[i]
}

func ids(items []deem.Item) []string {
	list := make([]string, len(items))
	for i, it := range items {
		list[i] = it.ID
	}
	return list
}

// TestRouting sends single memory points through each reading.
func TestRouting(t *testing.T) {
	tests := []struct {
		name  string
		point dict
		want  map[string]string // the stage by reading; Strict is like Upstream
	}{
		{"a plain point", dict{}, both("integrity", "integrity")},
		{"interference", dict{"memory_source": "interference"}, both("integrity", "integrity")},
		{"an update", dict{"is_update": "True", "memories_from_system": []any{"m"}}, both("update", "update")},
		{"an update of interference", dict{"is_update": "True", "memory_source": "interference", "memories_from_system": []any{"m"}}, both("update", "update")},
		{"nothing retrieved", dict{"is_update": "True", "memories_from_system": []any{}}, both("integrity", "update")},
		{"never asked", dict{"is_update": "True"}, both("integrity", "integrity")},
		{"asked with null", dict{"is_update": "True", "memories_from_system": nil}, both("integrity", "integrity")},
		{"a blank memory retrieved", dict{"is_update": "True", "memories_from_system": []any{""}}, both("update", "update")},
		{"a boolean", dict{"is_update": true, "memories_from_system": []any{"m"}}, both("integrity", "update")},
		{"in lower case", dict{"is_update": "true", "memories_from_system": []any{"m"}}, both("integrity", "update")},
		{"no update, yet retrieved", dict{"is_update": "False", "memories_from_system": []any{"m"}}, both("integrity", "integrity")},
	}
	for _, tt := range tests {
		for _, reading := range halumem.Readings() {
			items := itemsOf(t, userWith(t, dict{"memory_points": []any{aPoint("c", tt.point)}}), halumem.Options{Reading: reading})
			want := tt.want[reading]
			if len(items) != 1 || items[0].Category != want || items[0].ID != "u/0/"+want+"/1" {
				t.Errorf("%s, reading %s: items %v, want one of stage %s", tt.name, reading, ids(items), want)
			}
		}
	}
}

func both(upstream, fixed string) map[string]string {
	return map[string]string{halumem.Upstream: upstream, halumem.Strict: upstream, halumem.Fixed: fixed}
}

// TestItems checks the items of the example.
func TestItems(t *testing.T) {
	s := open(t, halumem.Options{Data: []string{examples + "tiny_eval_results.jsonl"}})
	items := collect(t, s)
	const user = "6c1f0b52-0000-4000-8000-00000000d33e"
	var short []string
	for _, it := range items {
		short = append(short, strings.TrimPrefix(it.ID, user+"/"))
		if it.Cluster != user || it.Weight != 0 || it.Fields["session"] != strings.TrimPrefix(it.ID, user+"/")[:1] {
			t.Errorf("%s: cluster %q, weight %v, session %q", it.ID, it.Cluster, it.Weight, it.Fields["session"])
		}
	}
	want := strings.Fields(`0/integrity/1 0/integrity/2 0/integrity/3 0/integrity/4 0/accuracy/0 0/accuracy/1 0/accuracy/2 0/qa/0 0/qa/1
		1/integrity/2 1/update/1 1/qa/0 2/integrity/1 2/accuracy/0 2/accuracy/1 2/update/2 2/qa/0 2/qa/1`)
	if diff := cmp.Diff(want, short); diff != "" {
		t.Fatalf("items -want +got:\n%s", diff)
	}
	if a, b := items[4].Fields["dialogue"], items[5].Fields["dialogue"]; unsafe.StringData(a) != unsafe.StringData(b) || a == "" {
		t.Error("two memories of a session do not share their dialogue")
	}
	if a, b := items[4].Fields["golden_memories"], items[6].Fields["golden_memories"]; unsafe.StringData(a) != unsafe.StringData(b) || a == "" {
		t.Error("two memories of a session do not share their golden memories")
	}
	if got := items[4].Fields["golden_memories"]; strings.Contains(got, "café") || strings.Count(got, "\n") != 2 {
		t.Errorf("golden memories %q, want three without the interference", got)
	}
	wantQA := deem.Item{
		ID: user + "/0/qa/0", Category: "qa", Cluster: user, Question: "What is Nadia Feld allergic to?",
		References: []string{"Hazelnuts"}, Response: "She is allergic to peanuts.",
		Fields: map[string]string{
			"session": "0", "index": "0", "evidence": "Nadia Feld is allergic to hazelnuts", "context": "Nadia is allergic to nuts.",
			"question_type": "Basic Fact Recall", "difficulty": "easy", "retrieved": "0/1",
			"search_duration_ms": "84.25", "response_duration_ms": "337.0", "latency_ms": "421.25",
		},
	}
	if diff := cmp.Diff(wantQA, items[7]); diff != "" {
		t.Errorf("the first question -want +got:\n%s", diff)
	}
	if got := items[0].Fields["add_dialogue_durations_ms"]; got != "1210.5 640.0 702.125" {
		t.Errorf("the first item has the durations %q", got)
	}
	if !slices.ContainsFunc(s.Notes(), func(n string) bool { return strings.HasPrefix(n, "1 update for which nothing was retrieved") }) {
		t.Errorf("no note about the update that moved: %q", s.Notes())
	}
}

// TestItemsAgain checks that the items are the same each time, with a limit, and from
// standard input.
func TestItemsAgain(t *testing.T) {
	name := examples + "tiny_eval_results.jsonl"
	s := open(t, halumem.Options{Data: []string{name}})
	all := collect(t, s)
	if diff := cmp.Diff(all, collect(t, s)); diff != "" {
		t.Errorf("the second time the items differ:\n%s", diff)
	}
	some := open(t, halumem.Options{Data: []string{name}, Limit: 7})
	if diff := cmp.Diff(all[:7], collect(t, some)); diff != "" {
		t.Errorf("under a limit of 7 the items differ:\n%s", diff)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	piped := open(t, halumem.Options{Data: []string{"-"}, Stdin: f})
	if piped.Hash() != s.Hash() || s.Hash() == some.Hash() || s.Hash() == "" {
		t.Errorf("hashes: file %s, pipe %s, limited %s", s.Hash(), piped.Hash(), some.Hash())
	}
	fixed := open(t, halumem.Options{Data: []string{name}, Reading: halumem.Fixed})
	if fixed.Hash() == s.Hash() {
		t.Error("the fixed reading routes otherwise and has the same hash")
	}
}

// TestSkipsGeneratedSessions checks that made-up sessions have no items, but that their
// times count.
func TestSkipsGeneratedSessions(t *testing.T) {
	q := dict{"question": "q", "answer": 15, "evidence": []any{}, "system_response": nil, "search_duration_ms": 5}
	text := line(t, dict{"uuid": "u", "sessions": []any{
		dict{"is_generated_qa_session": true, "add_dialogue_duration_ms": 1.5, "questions": []any{q}},
		dict{"memory_points": []any{}, "dialogue": []any{}, "extracted_memories": []any{}, "add_dialogue_duration_ms": 2, "questions": []any{q}},
	}})
	items := itemsOf(t, text, halumem.Options{})
	if len(items) != 1 || items[0].ID != "u/1/qa/0" {
		t.Fatalf("items %v, want u/1/qa/0", ids(items))
	}
	it := items[0]
	if it.Fields["add_dialogue_durations_ms"] != "1.5 2" || it.Fields["search_durations_ms"] != "5 5" {
		t.Errorf("the durations are %q and %q", it.Fields["add_dialogue_durations_ms"], it.Fields["search_durations_ms"])
	}
	if it.References[0] != "15" || it.Response != "None" {
		t.Errorf("reference %q and response %q, want them as Python writes 15 and None", it.References[0], it.Response)
	}
	idle := func(uuid string) string {
		return line(t, dict{"uuid": uuid, "sessions": []any{dict{"is_generated_qa_session": true, "add_dialogue_duration_ms": 9}}})
	}
	s, err := openText(t, idle("a")+text+idle("b"), halumem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := collect(t, s)[0].Fields["add_dialogue_durations_ms"]; got != "9 1.5 2" {
		t.Errorf("behind a user without items the durations are %q, want 9 1.5 2", got)
	}
	if !strings.Contains(strings.Join(s.Notes(), "\n"), "1 user without any item at the end") {
		t.Errorf("no note about the last user's times: %q", s.Notes())
	}
	fixed := itemsOf(t, text, halumem.Options{Reading: halumem.Fixed})[0]
	if _, err := protocol(t, halumem.Fixed).Request(fixed); kindOf(err) != deem.Input {
		t.Errorf("the fixed reading asks about a null: error %v, want a failure of the input", err)
	}
}

func kindOf(err error) deem.Kind {
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return f.Kind
	}
	return ""
}

// TestIncompleteQuestions checks that incomplete questions are items that cannot be judged,
// and do not affect others.
func TestIncompleteQuestions(t *testing.T) {
	good := dict{"question": "q", "answer": "a", "evidence": []any{}, "system_response": "r"}
	for _, key := range []string{"question", "answer", "evidence", "system_response"} {
		bad := dict{}
		for k, v := range good {
			if k != key {
				bad[k] = v
			}
		}
		text := userWith(t, dict{"questions": []any{bad, good}})
		s, err := openText(t, text, halumem.Options{})
		if err != nil {
			t.Fatal(err)
		}
		items := collect(t, s)
		p := protocol(t, "")
		_, err = p.Request(items[0])
		if _, decided := p.Decide(items[0]); decided || kindOf(err) != deem.Input || !strings.Contains(err.Error(), key) {
			t.Errorf("without %s: decided %v, error %v, want a failure of the input that names it", key, decided, err)
		}
		if _, err := p.Request(items[1]); err != nil {
			t.Errorf("without %s in the first, the second question cannot be asked: %v", key, err)
		}
		if len(s.Notes()) != 1 {
			t.Errorf("without %s: notes %q, want one", key, s.Notes())
		}
		_, err = openText(t, text, halumem.Options{RequireAll: true})
		if (err != nil) != (key == "system_response") {
			t.Errorf("without %s all responses are required: error %v", key, err)
		}
	}
}

// TestBadInput checks that input at which upstream would stop is reported with file and
// line.
func TestBadInput(t *testing.T) {
	point := func(more dict) dict { return dict{"memory_points": []any{aPoint("c", more)}} }
	good := userWith(t, point(nil))
	tests := []struct{ name, text, want string }{
		{"no JSON", good + "{\"uuid\": \n", ":2: "},
		{"no object", good + "[1]\n", ":2: "},
		{"no uuid", `{"sessions": []}` + "\n", ":1: the user has no uuid"},
		{"no sessions", `{"uuid": "u", "sessions": {}}` + "\n", ":1: user u has no list of sessions"},
		{"a session that is none", `{"uuid": "u", "sessions": [1]}` + "\n", "session 0: it is not an object"},
		{"twice", good + good, ":2: user u is at "},
		{"no points", userWith(t, dict{"memory_points": nil}), "session 0: it has no list of memory_points"},
		{"no memories", userWith(t, dict{"extracted_memories": nil}), "session 0: extracted_memories is not a list of strings"},
		{"a number for a memory", userWith(t, dict{"extracted_memories": []any{1}}), "extracted_memories is not a list of strings"},
		{"no dialogue", userWith(t, dict{"dialogue": nil}), "it has no list of turns in dialogue"},
		{"no role", userWith(t, dict{"dialogue": []any{dict{"timestamp": "", "content": ""}}}), "turn 0 of the dialogue has no role"},
		{"no content", userWith(t, point(dict{"memory_content": nil})), "memory point 0: it has no memory_content"},
		{"no is_update", userWith(t, point(dict{"is_update": nil})), "memory point 0: it has no is_update"},
		{"no source", userWith(t, point(dict{"memory_source": nil})), "memory point 0: it has no memory_source"},
		{"a text for a list", userWith(t, point(dict{"memories_from_system": "abc"})), "memories_from_system is not a list of strings"},
		{"questions that are none", userWith(t, dict{"questions": "q"}), "questions is not a list"},
		{"no users", "\n", "there are no users"},
		{"no items", userWith(t, nil), "its users have no memory points"},
	}
	for _, tt := range tests {
		_, err := openText(t, tt.text, halumem.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestProblemsTogether checks that one error contains all invalid lines.
func TestProblemsTogether(t *testing.T) {
	_, err := openText(t, "{\"uuid\": \n"+userWith(t, dict{"dialogue": nil})+"{}\n", halumem.Options{})
	ps, ok := errors.AsType[*deem.Problems](err)
	if !ok || ps.Total != 3 || ps.List[2].Line != 3 || deem.HintOf(err) == "" {
		t.Errorf("error %v, want three problems and a hint", err)
	}
}

// TestOptions checks that invalid options have a hint.
func TestOptions(t *testing.T) {
	for name, o := range map[string]halumem.Options{
		"no data":          {},
		"responses":        {Data: []string{"x"}, Responses: []string{"y"}},
		"a wrong reading":  {Data: []string{"x"}, Reading: "fixd"},
		"no such reading":  {Data: []string{"x"}, Reading: "zzzzzzzz"},
		"a missing file":   {Data: []string{filepath.Join(t.TempDir(), "none.jsonl")}},
		"a missing reader": {Data: []string{"-", "-"}},
	} {
		s, err := halumem.Open(t.Context(), o)
		if err == nil {
			t.Errorf("%s: no error, %d items", name, s.Len())
		}
	}
	_, err := halumem.Open(t.Context(), halumem.Options{Data: []string{"x"}, Reading: "fixd"})
	if !strings.Contains(deem.HintOf(err), "fixed") {
		t.Errorf("hint %q, want the reading that was meant", deem.HintOf(err))
	}
}

// TestOddData checks notes and items for data that upstream interprets in an unexpected
// way, or stops at only after all calls.
func TestOddData(t *testing.T) {
	some := []any{"m"}
	tests := []struct {
		name      string
		more      dict
		extracted []any
		want      string
	}{
		{"no extraction", nil, []any{}, "no session has an extracted memory"},
		{"no importance", dict{"importance": nil}, some, "without a number as importance"},
		{"an unknown type", dict{"memory_type": "Dream Memory"}, some, "of a type that upstream does not know"},
		{"a boolean", dict{"is_update": false}, some, `neither "True" nor "False"`},
		{"never asked", dict{"is_update": "True"}, some, "the system was never asked"},
	}
	for _, tt := range tests {
		s, err := openText(t, userWith(t, dict{"memory_points": []any{aPoint("c", tt.more)}, "extracted_memories": tt.extracted}), halumem.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], tt.want) {
			t.Errorf("%s: notes %q, want one with %q", tt.name, s.Notes(), tt.want)
		}
	}
	items := itemsOf(t, userWith(t, dict{"memory_points": []any{
		aPoint("a", nil), aPoint("b", nil), aPoint("c", dict{"index": nil}),
	}}), halumem.Options{})
	if diff := cmp.Diff([]string{"u/0/integrity/1", "u/0/integrity/1~2", "u/0/integrity/at2"}, ids(items)); diff != "" {
		t.Errorf("ids of points with the same index or none: %s", diff)
	}
}

// TestRetrieved checks whether a context seems to contain the evidence.
func TestRetrieved(t *testing.T) {
	tests := []struct{ question, evidence, context, want string }{
		{"What is Ann's birth date?", "Ann's birth date is 1984-09-14", "Ann was born on 1984-09-14.", "1/1"},
		{"What is Ann's birth date?", "Ann's birth date is 1984-09-14", "Ann's birth date is not known.", "0/1"},
		{"Who is it?", "Ann likes hiking, swimming, cycling and rowing", "ROWING and cycling", "0/1"},
		{"Who is it?", "Ann likes hiking and rowing", "hiking in the rain with the one she likes", "1/1"},
		{"Where does Ann live?", "Ann lives there", "", "0/1"},
		{"Ann?", "Ann", "", "1/1"}, // It has no word that could be missing.
	}
	for _, tt := range tests {
		items := itemsOf(t, userWith(t, dict{"questions": []any{dict{
			"question": tt.question, "answer": "a", "system_response": "r", "context": tt.context,
			"evidence": []any{dict{"memory_content": tt.evidence}},
		}}}), halumem.Options{})
		if got := items[0].Fields["retrieved"]; got != tt.want {
			t.Errorf("evidence %q in %q: %s, want %s", tt.evidence, tt.context, got, tt.want)
		}
	}
}

// TestSystemFields checks that a question has the usage of its response: tokens and cost by
// name, and the sum of search and answer time unless the latency is given.
func TestSystemFields(t *testing.T) {
	ask := func(more string) string {
		return `{"uuid": "u", "sessions": [{"memory_points": [], "dialogue": [], "extracted_memories": [], "questions": [{"question": "Q", "answer": "A", "evidence": [], "system_response": "R"` + more + `}]}]}`
	}
	for more, want := range map[string][4]string{
		``: {},
		`, "search_duration_ms": 84.25, "response_duration_ms": 337.0`: {2: "421.25"},
		`, "search_duration_ms": 84.25`:                                {},
		`, "usage": {"prompt_tokens": 900, "completion_tokens": 7}, "latency_s": 1.5, "response_duration_ms": 3, "cost_usd": 0.01`: {"900", "7", "1500.0", "0.01"},
	} {
		items := itemsOf(t, ask(more), halumem.Options{})
		if len(items) != 1 {
			t.Fatalf("%d items, want the question", len(items))
		}
		f := items[0].Fields
		if got := [4]string{f[deem.FieldTokensIn], f[deem.FieldTokensOut], f[deem.FieldLatency], f[deem.FieldCost]}; got != want {
			t.Errorf("%s: %q, want %q", more, got, want)
		}
	}
}
