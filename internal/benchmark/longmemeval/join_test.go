package longmemeval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/benchmark/longmemeval"
)

// TestJoin draws questions and responses in any order, and checks that there is an item for
// each response with a question, in the order of the responses, and that everything else is
// named or counted.
func TestJoin(t *testing.T) {
	dir := t.TempDir()
	data, answers := filepath.Join(dir, "d.jsonl"), filepath.Join(dir, "r.jsonl")
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-e]{1,3}(_abs)?`), 1, 12, func(s string) string { return s })
		asked, answered := ids.Draw(t, "asked"), ids.Draw(t, "answered")
		writeRows(t, data, asked, `"question_type": "multi-session", "question": "?", "answer": 1`)
		writeRows(t, answers, answered, `"hypothesis": "h"`)

		var want []string
		for _, id := range answered {
			if slices.Contains(asked, id) {
				want = append(want, id)
			}
		}
		s, err := longmemeval.Open(context.Background(), longmemeval.Options{Data: []string{data}, Responses: []string{answers}})
		if len(want) == 0 {
			if err == nil {
				t.Fatalf("%d items of nothing", s.Len())
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for it := range s.Items() {
			got = append(got, it.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("items %q, want %q", got, want)
		}
		notes := strings.Join(s.Notes(), "\n")
		for what, n := range map[string]int{"to no question of the data": len(answered) - len(want), "without a response": len(asked) - len(want)} {
			if strings.Contains(notes, what) != (n > 0) || n > 0 && !strings.Contains(notes, fmt.Sprint(n, " ")) {
				t.Fatalf("notes %q, want %d %s", notes, n, what)
			}
		}
	})
}

// writeRows writes a row for each id, with the same further columns.
func writeRows(t *rapid.T, name string, ids []string, columns string) {
	var b strings.Builder
	for _, id := range ids {
		key, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "{\"question_id\": %s, %s}\n", key, columns)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzOpen checks that for any files the items are complete and unique, and that a file
// that was read can be written in upstream's format.
func FuzzOpen(f *testing.F) {
	f.Add(questions, responses)
	f.Add(`{"question_id": 1, "question_type": "multi-session", "question": [], "answer": {}, "hypothesis": false}`, `{"id": "1", "prediction": "x"}`)
	f.Add("{", "]")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, d, r string) {
		data, answers := filepath.Join(dir, "d.json"), filepath.Join(dir, "r.jsonl")
		for name, text := range map[string]string{data: d, answers: r} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []longmemeval.Options{{Data: []string{data}, Responses: []string{answers}}, {Data: []string{data}}} {
			s, err := longmemeval.Open(t.Context(), o)
			if err != nil {
				continue
			}
			seen := map[string]bool{}
			for it := range s.Items() {
				if it.ID == "" || it.Question == "" || len(it.References) != 1 || seen[it.ID] {
					t.Fatalf("item %+v", it)
				}
				seen[it.ID] = true
			}
			all := func(id string) (label, ok bool) { return true, seen[id] }
			var out strings.Builder
			if _, err := longmemeval.WriteResults(t.Context(), &out, o, "m", all); err != nil || strings.Count(out.String(), "\n") != s.Len() {
				t.Fatalf("%d rows written of %d, error %v", strings.Count(out.String(), "\n"), s.Len(), err)
			}
		}
	})
}
