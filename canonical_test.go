package deem_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem"
)

// anyText returns texts nobody thought of: all characters, and bytes that are no UTF-8.
func anyText() *rapid.Generator[string] {
	bytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) })
	hard := rapid.SampledFrom([]string{"", `\ufffd`, "\u2028\u2029", "<&>", "\x00\b\f\n\r\t\x1f\x7f", `"\`, "\xff\xc3(", "\ufffd", "é你😀"})
	return rapid.OneOf(rapid.String(), bytes, hard)
}

// The canonical JSON that is written by hand is that of the long way, whatever the
// texts, and so are the hashes. The test also fails when a type gets a field that the
// short way does not know.
func TestShortWayToCanonicalJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := anyText()
		it := deem.Item{
			ID: text.Draw(rt, "id"), Category: text.Draw(rt, "category"), Cluster: text.Draw(rt, "cluster"),
			Question: text.Draw(rt, "question"), Response: text.Draw(rt, "response"),
			References: rapid.SliceOfN(text, 0, 3).Draw(rt, "references"),
			Fields:     rapid.MapOfN(text, text, 0, 3).Draw(rt, "fields"),
			Weight:     rapid.Float64().Draw(rt, "weight"),
		}
		want, err := deem.Canonical(it)
		if got := it.Canonical(); err != nil || string(got) != string(want) {
			rt.Errorf("Canonical() = %s, want %s, %v", got, want, err)
		}
		checkHash(rt, it.Hash(), it)

		req := deem.Request{
			Messages: []deem.Message{{Role: text.Draw(rt, "role"), Content: text.Draw(rt, "content")}, {Role: "user"}},
			Stop:     rapid.SliceOfN(text, 0, 2).Draw(rt, "stop"), MaxTokens: rapid.Int().Draw(rt, "max"),
			JSON: rapid.Bool().Draw(rt, "json"), TopLogprobs: rapid.IntRange(0, 20).Draw(rt, "top"), Trial: rapid.IntRange(0, 3).Draw(rt, "trial"),
			Temperature: rapid.Ptr(rapid.Float64(), true).Draw(rt, "temperature"), TopP: rapid.Ptr(rapid.Float64(), true).Draw(rt, "p"),
			Seed: rapid.Ptr(rapid.Int64(), true).Draw(rt, "seed"),
		}
		if rapid.Bool().Draw(rt, "schema") {
			req.Schema = []byte(`{"b": 1.50, "a": "\u00e9"}`)
		}
		checkHash(rt, req.Hash(), req)
	})
}

func checkHash(rt *rapid.T, got string, v any) {
	rt.Helper()
	if want, err := deem.Hash(v); err != nil || got != want {
		rt.Errorf("Hash() of %+v = %s, want %s, %v", v, got, want, err)
	}
}

// Every byte at every place among plain ones is escaped or not as the long way does it:
// the short way looks at eight of them at once.
func TestEveryByteInCanonicalJSON(t *testing.T) {
	for b := range 256 {
		for at := range 18 {
			text := []byte("all work and no play")
			text[at] = byte(b)
			it := deem.Item{ID: string(text)}
			want, err := deem.Canonical(it)
			if got := it.AppendCanonical([]byte("before")); err != nil || string(got) != "before"+string(want) {
				t.Errorf("AppendCanonical(before) of %q = %s, want before%s, %v", text, got, want, err)
			}
		}
	}
}

// The hash that a ledger remembers is not taken for that of another request.
func TestHashOf(t *testing.T) {
	number, seed := 0.5, int64(7)
	same := deem.Request{Messages: []deem.Message{{Role: "user", Content: "a"}}, Stop: []string{"x"}, Temperature: &number}
	if got := deem.HashOf(t.Context(), same); got != same.Hash() {
		t.Errorf("without a ledger HashOf = %s, want %s", got, same.Hash())
	}
	for name, change := range map[string]func(r *deem.Request){
		"nothing":      func(*deem.Request) {},
		"message":      func(r *deem.Request) { r.Messages = []deem.Message{{Role: "user", Content: "b"}} },
		"in place":     func(r *deem.Request) { r.Messages[0].Role = "system" },
		"stop":         func(r *deem.Request) { r.Stop[0] = "y" },
		"max tokens":   func(r *deem.Request) { r.MaxTokens = 1 },
		"temperature":  func(r *deem.Request) { r.Temperature = nil },
		"top p":        func(r *deem.Request) { r.TopP = &number },
		"seed":         func(r *deem.Request) { r.Seed = &seed },
		"json":         func(r *deem.Request) { r.JSON = true },
		"schema":       func(r *deem.Request) { r.Schema = []byte(`{}`) },
		"top logprobs": func(r *deem.Request) { r.TopLogprobs = 1 },
		"trial":        func(r *deem.Request) { r.Trial = 1 },
	} {
		ctx, _ := deem.WithLedger(t.Context(), 0)
		r := same
		r.Messages, r.Stop = slices.Clone(same.Messages), slices.Clone(same.Stop)
		if got := deem.HashOf(ctx, r); got != same.Hash() {
			t.Errorf("HashOf = %s, want %s", got, same.Hash())
		}
		change(&r)
		if got := deem.HashOf(ctx, r); got != r.Hash() || (got == same.Hash()) != (name == "nothing") {
			t.Errorf("after a change of %s HashOf = %s, want %s", name, got, r.Hash())
		}
	}
}

// A request that has no JSON has no hash, and that is a bug of whoever made it.
func TestNoJSONPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the hash of a request with a schema that is no JSON did not panic")
		}
	}()
	deem.Request{Schema: []byte("{")}.Hash()
}

// BenchmarkHash is the cost of the hash of a request of ordinary length.
func BenchmarkHash(b *testing.B) {
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	req := deem.Prompt(string(text))
	req.Temperature, req.MaxTokens = new(0.0), 5
	b.ReportAllocs()
	for b.Loop() {
		req.Hash()
	}
}
