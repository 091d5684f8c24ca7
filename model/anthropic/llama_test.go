package anthropic_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/anthropic"
)

// TestLlama calls a real llama.cpp server, which we did not write and which also serves the
// Messages API, to check that our wire format is compatible.
func TestLlama(t *testing.T) {
	url := modeltest.Llama(t)
	m := open(t, anthropic.Options{Model: "random", BaseURL: url, Key: modeltest.Key})
	t.Run("chat", func(t *testing.T) { testLlamaChat(t, m) })
	t.Run("errors", func(t *testing.T) { testLlamaErrors(t, url, m) })
}

// testLlamaChat gets twenty replies of nonsense, some of which is not UTF-8.
func testLlamaChat(t *testing.T, m *anthropic.Model) {
	cut, replaced := 0, 0
	for range 20 {
		hot := 1.0
		req := deem.Request{
			Messages:    []deem.Message{{Role: "system", Content: "You judge."}, {Role: "user", Content: "Is it so? \u00e4\u4e2d"}},
			MaxTokens:   20,
			Temperature: &hot,
			Stop:        []string{"never said"},
		}
		reply, err := m.Complete(t.Context(), req)
		if err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if !utf8.ValidString(reply.Text) {
			t.Errorf("text %q is not UTF-8", reply.Text)
		}
		if strings.Contains(reply.Text, "\uFFFD") {
			replaced++
		}
		u := reply.Usage
		if u.Input < 10 || u.CachedInput > u.Input || u.Output < 1 || u.Output > 20 {
			t.Errorf("usage %+v of a short prompt with at most 20 tokens of reply", u)
		}
		switch {
		case reply.Stop == deem.StopLength && u.Output == 20:
			cut++
		case reply.Stop != deem.StopEnd:
			t.Errorf("stop %q after %d of 20 tokens", reply.Stop, u.Output)
		}
	}
	if cut == 0 || replaced == 0 {
		t.Errorf("%d of 20 replies were cut and %d were not UTF-8, so this tests less than it should", cut, replaced)
	}
}

// testLlamaErrors makes the server return its own errors.
func testLlamaErrors(t *testing.T, url string, m *anthropic.Model) {
	tests := []struct {
		name  string
		model *anthropic.Model
		req   deem.Request
		fatal bool
		hint  string
	}{
		{"too long", m, deem.Prompt(strings.Repeat("word ", 4*modeltest.LlamaContext)), false, ""},
		{"bad key", open(t, anthropic.Options{Model: "random", BaseURL: url, Key: "sk-not-this-one"}), deem.Prompt("q"), true, "ANTHROPIC_API_KEY is not accepted"},
		{"no key", open(t, anthropic.Options{Model: "random", BaseURL: url}), deem.Prompt("q"), true, "wants a key"},
		{"wrong address", open(t, anthropic.Options{Model: "random", BaseURL: url + "/nowhere", Key: modeltest.Key}), deem.Prompt("q"), true, "check the base URL"},
	}
	for _, tt := range tests {
		reply, err := tt.model.Complete(t.Context(), tt.req)
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok {
			t.Errorf("%s: reply %+v, error %v, want a ModelError", tt.name, reply, err)
			continue
		}
		if me.Passing || me.Fatal != tt.fatal || me.Kind != deem.Provider || !strings.Contains(deem.HintOf(err), tt.hint) {
			t.Errorf("%s: %v with hint %q: passing %v, fatal %v, want false, %v and a hint with %q",
				tt.name, err, deem.HintOf(err), me.Passing, me.Fatal, tt.fatal, tt.hint)
		}
	}
}
