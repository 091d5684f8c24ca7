package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
)

// The body of a call that is written by hand says what encoding/json would say.
func TestBody(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\u2028<&>", "\x00\"\\\n", "\xff\xc3(", "é你😀"}))
	rapid.Check(t, func(rt *rapid.T) {
		m := &Model{name: texts.Draw(rt, "model"), serviceTier: rapid.SampledFrom([]string{"", "flex"}).Draw(rt, "tier"), reasoning: rapid.Bool().Draw(rt, "reasoning")}
		req := deem.Request{
			MaxTokens: rapid.IntRange(0, 100).Draw(rt, "max"), JSON: rapid.Bool().Draw(rt, "json"),
			TopLogprobs: rapid.IntRange(0, 30).Draw(rt, "top"), Stop: rapid.SliceOfN(texts, 0, 2).Draw(rt, "stop"),
			Temperature: rapid.Ptr(rapid.Float64(), true).Draw(rt, "temperature"), Seed: rapid.Ptr(rapid.Int64(), true).Draw(rt, "seed"),
		}
		for range rapid.IntRange(0, 3).Draw(rt, "messages") {
			req.Messages = append(req.Messages, deem.Message{Role: texts.Draw(rt, "role"), Content: texts.Draw(rt, "content")})
		}
		w := m.encode(req)
		body, err := w.body()
		if err != nil {
			rt.Fatal(err)
		}
		want, err := json.Marshal(w)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(tree(rt, want), tree(rt, body)); d != "" {
			rt.Errorf("body() = %s, which differs (-want +got):\n%s", body, d)
		}
	})
}

// tree returns what a JSON text says.
func tree(rt *rapid.T, text []byte) (v any) {
	rt.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		rt.Fatalf("%s: %v", text, err)
	}
	return v
}
