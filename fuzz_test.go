package deem_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
)

// FuzzHash holds that the hash of an item and of a request is that of their canonical JSON,
// which is written in two ways, and that an item which went through a file is still the
// same item.
func FuzzHash(f *testing.F) {
	f.Add("id", "question", "a\x00b", "response", 1.5, 3)
	f.Add("", "", "", "", 0.0, 0)
	f.Add("f", "\u2028", "<&>\x00", "\"", 1e21, -1)
	f.Add("é", "e\u0301", "\x00\x00", "{}", 5e-324, 1<<31)
	f.Fuzz(func(t *testing.T, id, question, refs, response string, weight float64, n int) {
		if weight-weight != 0 {
			return // Readers refuse it, and JSON has no word for it.
		}
		if !utf8.ValidString(id) || !utf8.ValidString(question) {
			return // They are names of fields, of which JSON would make one of two.
		}
		it := deem.Item{ID: id, Category: response, Question: question, References: strings.Split(refs, "\x00"), Response: response, Fields: map[string]string{id: refs, question: id}, Weight: weight}
		want, err := deem.Hash(it)
		if err != nil {
			t.Fatal(err)
		}
		if got := it.Hash(); got != want {
			t.Errorf("hash %s of %+v, want %s", got, it, want)
		}
		text, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		var again deem.Item
		if err := json.Unmarshal(text, &again); err != nil || again.Hash() != want {
			t.Errorf("%s is another item: %+v, %v", text, again, err)
		}
		req := deem.Prompt(question)
		req.MaxTokens, req.Stop, req.Messages = n, it.References, append(req.Messages, deem.Message{Role: id, Content: response})
		if want, err = deem.Hash(req); err != nil || req.Hash() != want {
			t.Errorf("hash %s of %+v, want %s, %v", req.Hash(), req, want, err)
		}
	})
}
