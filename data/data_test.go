package data_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deem"
	"deem/data"
)

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "items.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOpen reads a sequence twice, and stops it early.
func TestOpen(t *testing.T) {
	items := data.Open(write(t, `{"id": "a", "question": "q", "answer": "r", "response": "x"}`+"\n"+`{"id": "b", "question": "q", "answer": "r", "response": "y"}`+"\n"))
	for range 2 {
		var ids string
		for it, err := range items {
			if err != nil {
				t.Fatal(err)
			}
			ids += it.ID
		}
		if ids != "ab" {
			t.Errorf("the items are %q", ids)
		}
	}
	for it := range items {
		if it.ID != "a" {
			t.Errorf("the first item is %q", it.ID)
		}
		break
	}
}

// TestProblems checks that a bad row is found before the first item.
func TestProblems(t *testing.T) {
	name := write(t, `{"id": "a", "question": "q", "answer": "r", "response": "x"}`+"\n"+`{"id": "b", "question": "q"}`+"\n")
	var items int
	var last error
	for _, err := range data.Open(name) {
		if err == nil {
			items++
		}
		last = err
	}
	p, ok := errors.AsType[*deem.Problems](last)
	if !ok || items != 0 || p.List[0].Line != 2 || p.List[0].File != name {
		t.Errorf("%d items, then %v", items, last)
	}
	for _, err := range data.Open("missing.jsonl") {
		if err == nil || err.Error() != "open missing.jsonl: no such file" {
			t.Errorf("the error is %v", err)
		}
	}
}
