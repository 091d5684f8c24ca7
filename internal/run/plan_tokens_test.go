package run_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/run"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int // without the format of the chat
	}{
		{"", 0},
		{"a", 1},
		{"Does it say the same?", 6}, // 21 bytes
		{"上海", 2},
		{"在 Shanghai", 4}, // 3 bytes of Chinese, 9 of ASCII
		{"a\xff\xfeb", 2},
	} {
		if got := run.Tokens(deem.Prompt(tt.text)) - run.Tokens(deem.Prompt("")); got != tt.want {
			t.Errorf("Tokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
	req := deem.Request{Messages: []deem.Message{{Role: "system", Content: "Judge."}, {Role: "user", Content: "Is it so?"}}}
	plain := run.Tokens(req)
	req.Schema = []byte(`{"type":"object"}`)
	if got := run.Tokens(req); plain != 3+4+2+4+3 || got != plain+5 {
		t.Errorf("two messages have %d tokens, and with a schema %d, want 16 and 21", plain, got)
	}
}

// A longer text has no fewer tokens.
func TestTokensGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if whole, part := run.Tokens(deem.Prompt(a+b)), run.Tokens(deem.Prompt(a)); whole < part {
			t.Errorf("Tokens(%q) = %d, less than that of its beginning, %d", a+b, whole, part)
		}
	})
}

// What the vendor counted in earlier replies corrects the estimate.
func TestInputCorrected(t *testing.T) {
	req := deem.Prompt(strings.Repeat("word ", 400))
	req.MaxTokens = 10
	plans := map[float64]run.Plan{}
	for _, input := range []float64{0, 1, 1.5} {
		p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o", Input: input})
		if err := p.Add(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		plans[input] = p.Plan()
	}
	if guess, plain := plans[0], plans[1]; guess.InputTokens != 507 || plain.InputTokens != 507 || !guess.InputGuessed || plain.InputGuessed {
		t.Errorf("without replies %d tokens (guessed %t), with equal counts %d (guessed %t), want 507 and 507, the first guessed",
			guess.InputTokens, guess.InputGuessed, plain.InputTokens, plain.InputGuessed)
	}
	if more := plans[1.5]; more.InputTokens != 761 || *more.CostMicros <= *plans[1].CostMicros {
		t.Errorf("with 1.5 tokens counted for each, %d tokens for %d, want 761 for more than %d", more.InputTokens, *more.CostMicros, *plans[1].CostMicros)
	}
}
