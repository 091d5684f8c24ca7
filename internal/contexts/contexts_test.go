package contexts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/contexts"
	"deem/internal/dataset"
	"deem/internal/reader"
)

const shared = "../../../shared/field/contexts"

// open reads a file or folder of contexts.
func open(t *testing.T, name, mapping string) (*contexts.Set, error) {
	t.Helper()
	m, err := dataset.ParseMapping(mapping)
	if err != nil {
		t.Fatal(err)
	}
	return contexts.Open(t.Context(), contexts.Source{Names: []string{name}, Map: m})
}

func itemsOf(t *testing.T, s *contexts.Set) []deem.Item {
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

// written writes a file of contexts and returns its name.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shapes are the made-up files in the shapes of real programs. They are read without flags.
var shapes = []struct {
	name            string
	items, failed   int
	passages        int // of all items
	joined          bool
	keyed           int // items with references
	asked, measured int // items with a question; with a latency of the retrieval
	first           string
}{
	{"amb.json", 4, 0, 3, true, 4, 4, 4, "c1_q0"},
	{"benchd_manifest.signed.json", 4, 1, 3, true, 4, 4, 0, "made-0"},
	{"omnimemeval_locomo_search_results.json", 4, 1, 3, true, 0, 4, 4, "locomo_exp_user_0:1"},
	{"omnimemeval_lme_search_results.json", 4, 0, 4, true, 4, 4, 4, "lme_exper_user_v1_0:1"},
	{"omnimemeval_beam_search_results.json", 4, 0, 4, true, 4, 4, 4, "beam_exp_user_v1_1__q0"},
	{"memos_locomo_search_results.json", 3, 0, 3, true, 0, 3, 3, "locomo_exp_user_0:1"},
	{"memos_lme_search_results.json", 3, 0, 3, true, 3, 3, 3, "lme_exper_user_v1_0:1"},
	{"zep_papers_locomo_search_results.json", 4, 0, 4, true, 0, 0, 4, "locomo_experiment_user_0:1"},
	{"zep_2025_run_results.json", 4, 0, 4, true, 4, 4, 4, "locomo_graph_0_qa_0"},
	{"mem0_2026_predict", 4, 0, 4, false, 4, 4, 4, "conv0_q0"},
	{"mem0_2026_unified.json", 4, 0, 4, false, 4, 4, 4, "q0"},
	{"mem0_2025_results.json", 4, 0, 4, false, 4, 4, 0, "0:1"},
	{"mem0_2025_rag_results.json", 4, 0, 3, true, 4, 4, 4, "0:1"},
	{"memorybench_results", 4, 0, 4, false, 4, 4, 4, "q0"},
	{"longmemeval_retrievallog_session.jsonl", 4, 0, 8, false, 4, 4, 0, "q0"},
	{"hindsight_results.json", 4, 0, 4, false, 4, 4, 0, "conv-x:1"},
	{"halumem_results.jsonl", 4, 0, 4, true, 4, 4, 4, "u1:1"},
}

func needShared(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(shared); err != nil {
		t.Skip("there are no files of contexts: ", err)
	}
}

func TestShapes(t *testing.T) {
	needShared(t)
	for _, want := range shapes {
		t.Run(want.name, func(t *testing.T) {
			s, err := open(t, filepath.Join(shared, want.name), "")
			if err != nil {
				t.Fatal(err)
			}
			got, list := want, itemsOf(t, s)
			got.items, got.failed, got.passages, got.keyed, got.asked, got.measured, got.first = len(list), 0, 0, 0, 0, 0, list[0].ID
			for _, it := range list {
				var found []reader.Context
				if err := json.Unmarshal([]byte(it.Fields[reader.FieldContexts]), &found); err != nil {
					t.Fatal(err)
				}
				if it.Fields[reader.FieldStatus] != "" {
					got.failed++
				}
				for _, c := range found {
					got.joined = c.Joined
				}
				got.passages += len(found)
				if len(it.References) > 0 {
					got.keyed++
				}
				if it.Question != "" {
					got.asked++
				}
				if it.Fields[contexts.FieldLatency] != "" {
					got.measured++
				}
				if it.Response != "" {
					t.Errorf("%s has the response %q", it.ID, it.Response)
				}
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// Files without texts are refused with a sentence that says what they have.
func TestRefused(t *testing.T) {
	needShared(t)
	for name, want := range map[string]string{
		"deja_vu_ranking.json":   "it is a ranking",
		"locomo_rag_output.json": "has the ids of passages and not their texts",
		"a40_head_to_head.json":  "it counts what was retrieved (context_chars, n_hits)",
	} {
		_, err := open(t, filepath.Join(shared, name), "")
		if err == nil || !strings.Contains(err.Error(), want) || deem.HintOf(err) == "" {
			t.Errorf("%s: %v (hint %q), want %q and a hint", name, err, deem.HintOf(err), want)
		}
	}
}

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name, text, mapping string
		want                string // ids, questions, references and contexts
		wantErr             string
	}{
		{
			name: "a list of texts", text: `{"id":"a","question":"Q?","contexts":["one two","three four"],"answer":"system","gold":"key"}`,
			want: `a Q? [key] [{"text":"one two"},{"text":"three four"}]`,
		},
		{
			name: "renamed columns", text: `{"nr":"a","ask":"Q?","found":"x y","truth":"key"}`, mapping: "id=nr,question=ask,references=truth,field.contexts=found",
			want: `a Q? [key] [{"text":"x y","joined":true}]`,
		},
		{name: "an empty search", text: `{"id":"a","question":"Q?","contexts":[]}`, want: `a Q? [] []`},
		{name: "a failed search", text: `{"id":"a","question":"Q?","context":"","status":"failed","error":{"type":"Timeout","message":"60 s"}}`, want: `a Q? [] [] !failed: Timeout: 60 s`},
		{name: "an answer alone is not known to be the key", text: `{"id":"a","question":"Q?","context":"x y","answer":"?"}`, want: `a Q? [] [{"text":"x y","joined":true}]`},
		{name: "an answer next to evidence is the key", text: `{"id":"a","question":"Q?","context":"x y","answer":"key","evidence":["D1:1"]}`, want: `a Q? [key] [{"text":"x y","joined":true}]`},
		{name: "an answer next to a response is the key", text: `{"id":"a","question":"Q?","context":"x y","answer":"key","response":"r"}`, want: `a Q? [key] [{"text":"x y","joined":true}]`},
		{
			name: "what tells the key is not in the raw passage", text: `{"id":"a","question":"Q?","contexts":[{"corpus_id":"answer_1","text":"x y","has_answer":true,"kind":"k"}]}`,
			want: `a Q? [] [{"id":"answer_1","text":"x y","raw":{"text":"x y","kind":"k"}}]`,
		},
		{name: "no contexts", text: `{"id":"a","question":"Q?","response":"r"}`, wantErr: "no row has a question, or an id, and contexts"},
		{name: "an id twice", text: `[{"id":"a","question":"Q?","context":"x"},{"id":"a","question":"R?","context":"y"}]`, wantErr: "the id a is that of the row at"},
		{name: "a passage without a text", text: `{"id":"a","question":"Q?","contexts":[{"id":"p1"}]}`, wantErr: "a passage has no text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := open(t, written(t, "c.json", tt.text), tt.mapping)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error %v, want %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			it := itemsOf(t, s)[0]
			got := fmt.Sprintf("%s %s %v %s", it.ID, it.Question, it.References, it.Fields[reader.FieldContexts])
			if why := it.Fields[reader.FieldStatus]; why != "" {
				got += " !" + why
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// keys are the names under which the files keep the answer key, evidence, and what was made
// from them, and what the system answered.
var keys = []string{
	"answer", "gold_answers", "golden_answer", "ground_truth_answer", "groundTruth", "expected_answer", "correct_answer", "adversarial_answer",
	"evidence", "answer_evidences", "answer_session_ids", "rubric", "has_answer", "missing_elements", "present_elements", "judge_reason",
	"retrieval_hit", "answer_density", "correctness_reasoning", "completeness_grade", "completeness_reasoning", "grade", "grade_reasoning",
	"correct", "is_correct", "cutoff_results", "response", "system_response", "generated_answer", "predicted_answer", "hypothesis",
	"reasoning", "scored_correct", "score_reason", "category", "question_type", "dimension", "ingest_history", "memory_content",
}

// shuffled changes every value of the answer key, and the ids that name evidence.
func shuffled(v any, key bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = shuffled(inner, key || slices.Contains(keys, name))
		}
		return v
	case []any:
		for i := range v {
			v[i] = shuffled(v[i], key)
		}
		return v
	case string:
		if rest, ok := strings.CutPrefix(v, "answer_"); ok {
			return "other_" + rest
		}
		if key {
			return "SHUFFLED " + v
		}
	case bool:
		if key {
			return !v
		}
	case float64:
		if key {
			return v + 7
		}
	}
	return v
}

// rewrite writes a file again with the values that change returns.
func rewrite(t *testing.T, from, to string, change func(v any) any) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{string(text)}
	if strings.HasSuffix(from, ".jsonl") {
		lines = strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	for i, line := range lines {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		changed, err := json.Marshal(change(v))
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = string(changed)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sent returns every byte that every reader sends for the items of a file. change may change
// an item first.
func sent(t *testing.T, name string, change func(*deem.Item)) (text string, requests int) {
	t.Helper()
	s, err := open(t, name, "")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, by := range reader.Names() {
		d, err := reader.Open(by)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range itemsOf(t, s) {
			change(&it)
			req, err := d.Protocol().Request(it)
			if f, ok := errors.AsType[*deem.Failure](err); ok {
				fmt.Fprintln(&all, by, f.Detail)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := deem.Canonical(req)
			if err != nil {
				t.Fatal(err)
			}
			requests++
			fmt.Fprintf(&all, "%s %s\n", by, body)
		}
	}
	return all.String(), requests
}

// The bytes that a reader sends do not depend on the answer key in the file. A reader of
// files that leaks it would be found.
func TestGoldShuffled(t *testing.T) {
	needShared(t)
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			source := filepath.Join(shared, shape.name)
			from, to := filepath.Join(t.TempDir(), shape.name), filepath.Join(t.TempDir(), shape.name)
			if err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					inside := strings.TrimPrefix(path, source)
					rewrite(t, path, from+inside, func(v any) any { return v })
					rewrite(t, path, to+inside, func(v any) any { return shuffled(v, false) })
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			asked := func(it *deem.Item) { it.Question += "?" } // One shape has no questions.
			before, n := sent(t, from, asked)
			after, _ := sent(t, to, asked)
			if n == 0 {
				t.Fatal("nothing was sent")
			}
			if before != after {
				t.Error("the requests depend on the answer key")
			}
			if shape.keyed == 0 {
				return
			}
			leak := func(it *deem.Item) {
				asked(it)
				it.Fields[reader.FieldDate] += strings.Join(it.References, " ")
			}
			before, _ = sent(t, from, leak)
			if after, _ = sent(t, to, leak); before == after {
				t.Error("a leak of the references is not found")
			}
		})
	}
}
