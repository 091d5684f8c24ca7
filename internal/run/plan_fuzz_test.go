package run_test

import (
	"testing"

	"deem"
	"deem/internal/run"
)

// FuzzCount counts arbitrary text for a model of each kind. With a known vocabulary there
// are at most as many tokens as bytes, on which budgets rely, and at least one for a
// non-empty text; and a request has at least the tokens of its text.
func FuzzCount(f *testing.F) {
	for _, seed := range []string{"", "a", "Hello, world", "東京タワー", "\xff\xfe", "🙂🙂", "   \n\n\t", "don't I'LL", "12345678", "<|endoftext|>", "\u200d\u0301", "aaaaaaaaaaaaaaaaaaaaaaaa", "\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, model := range []string{"openai:gpt-4o", "openai:gpt-4", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-pro", "ollama:llama3", "x"} {
			c := run.CounterOf(model)
			n := c.Text(text)
			if n < 0 || n == 0 && text != "" && c.Exact() || c.Exact() && n > len(text) {
				t.Errorf("%q has %d tokens for %s", text, n, model)
			}
			if all := c.Count(deem.Prompt(text)); all < n {
				t.Errorf("a request with %q has %d tokens for %s, and its text %d", text, all, model, n)
			}
			if again := c.Text(text); again != n {
				t.Errorf("%q has %d tokens for %s, then %d", text, n, model, again)
			}
		}
	})
}
