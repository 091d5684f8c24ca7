package model_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/model"
)

func TestBatchAndWindow(t *testing.T) {
	own := model.Prices{Entries: []model.Price{
		{Model: "openai:gpt-4o", Input: 1},
		{Model: "openai:gpt-4o-mini", Batch: 250_000, Window: 1000},
		{Model: "openai:llama", Input: 1},
	}}
	for _, tt := range []struct {
		prices model.Prices
		name   string
		batch  model.Millionths
		window int
	}{
		{model.Prices{}, "openai:gpt-4o-mini-2024-07-18", 500_000, 128_000},
		{model.Prices{}, "anthropic:claude-opus-5", 500_000, 1_000_000},
		{model.Prices{}, "anthropic:claude-opus-4-5", 500_000, 200_000},
		{model.Prices{}, "google:gemini-2.5-flash", 0, 1_048_576},
		{model.Prices{}, "openai:chatgpt-4o-latest", 0, 128_000},
		{model.Prices{}, "openai:gpt-4", 500_000, 8192},
		{model.Prices{}, "ollama:llama3.2", 0, 0},
		{own, "openai:gpt-4o", 500_000, 128_000}, // The price is overridden, the rest is still known.
		{own, "openai:gpt-4o-mini", 250_000, 1000},
		{own, "openai:llama-3", 0, 0},
	} {
		if p, _ := tt.prices.Of(tt.name, ""); p.Batch != tt.batch || p.Window != tt.window {
			t.Errorf("%s: batch %d and window %d, want %d and %d", tt.name, p.Batch, p.Window, tt.batch, tt.window)
		}
	}
}

func TestInBatch(t *testing.T) {
	for _, tt := range []struct {
		share         model.Millionths
		micros, after int64
	}{
		{500_000, 0, 0},
		{500_000, 1, 1},
		{500_000, 3, 2},
		{500_000, 4, 2},
		{500_000, 3_000_001, 1_500_001},
		{1_000_000, 7, 7},
		{0, 7, 7}, // unknown
		{500_000, math.MaxInt64 / 2, math.MaxInt64/4 + 1},
	} {
		if got := (model.Price{Batch: tt.share}).InBatch(tt.micros); got != tt.after {
			t.Errorf("Price{Batch: %d}.InBatch(%d) = %d, want %d", tt.share, tt.micros, got, tt.after)
		}
	}
}

func TestShareInTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.json")
	for row, want := range map[string]string{
		`"batch": 0.25`:  "",
		`"batch": 1`:     "",
		`"batch": 1.5`:   `:2: model "a:b" has a batch share above 1`,
		`"batch": "0.5"`: `:2: "0.5" is not`,
		`"window": -3`:   `:2: model "a:b" has a window of -3 tokens`,
	} {
		if err := os.WriteFile(path, []byte("{\"prices\": [\n{\"model\": \"a:b\", "+row+"}]}"), 0o600); err != nil {
			t.Fatal(err)
		}
		prices, err := model.LoadPrices(path)
		if want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), path+want) {
				t.Errorf("%s: error %v, want %s", row, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		text, err := json.Marshal(prices.Entries[0])
		if err != nil || !strings.Contains(string(text), strings.ReplaceAll(row, " ", "")) {
			t.Errorf("%s is written as %s (%v)", row, text, err)
		}
	}
}

// TestBuiltinWindows: each entry of a model that replies has a window, and no batch costs
// more than single calls. Embedding models have no reply and no window.
func TestBuiltinWindows(t *testing.T) {
	for _, e := range model.BuiltinPrices().Entries {
		embeds := strings.Contains(e.Model, "embedding")
		if (e.Window < 4096) != embeds || (e.Output == 0) != embeds || e.Batch > 1_000_000 {
			t.Errorf("%s: window %d, output %d, batch %d", e.Model, e.Window, e.Output, e.Batch)
		}
	}
}
