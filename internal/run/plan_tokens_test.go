package run_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tiktoken-go/tokenizer/codec"

	"deem"
	"deem/internal/run"
)

func TestFor(t *testing.T) {
	const (
		o200k  = "o200k_base"
		cl100k = "cl100k_base"
	)
	for _, tt := range []struct {
		model string
		exact bool
		how   string
	}{
		{"openai:gpt-4o", true, o200k},
		{"openai:gpt-4o-mini-2024-07-18", true, o200k},
		{"openai:chatgpt-4o-latest", true, o200k},
		{"openai:gpt-4.1-nano", true, o200k},
		{"openai:gpt-5", true, o200k},
		{"openai:gpt-5.4-mini", true, o200k},
		{"openai:o1", true, o200k},
		{"openai:o3-mini", true, o200k},
		{"openai:o4-mini-2025-04-16", true, o200k},
		{"openai:ft:gpt-4o-mini:acme::8x", true, o200k},
		{"openai:openai/gpt-4o", true, o200k}, // as spelt by routers
		{"GPT-4o", true, o200k},
		{"openai:gpt-4", true, cl100k},
		{"openai:gpt-4-turbo", true, cl100k},
		{"openai:gpt-3.5-turbo", true, cl100k},
		{"openai:text-embedding-3-small", true, cl100k},
		{"ollama:gpt-oss:20b", false, "estimate: o200k_base without what the server adds"},
		{"anthropic:claude-sonnet-4-5", false, "estimate: about 3.8 bytes a token in English, 1.2 tokens a Chinese character"},
		{"anthropic:claude-opus-5", false, "estimate: about 3.0 bytes a token in English, 1.3 tokens a Chinese character"},
		{"google:gemini-2.5-flash", false, "estimate: about 4.2 bytes a token in English, 0.7 tokens a Chinese character"},
		{"ollama:llama3.2", false, "estimate: about 4.4 bytes a token in English, 1.0 tokens a Chinese character"},
		{"openai:o1lama", false, "estimate: about 4.0 bytes a token in English, 1.2 tokens a Chinese character"},
		{"", false, "estimate: about 4.0 bytes a token in English, 1.2 tokens a Chinese character"},
	} {
		c := run.CounterOf(tt.model)
		if c.Exact() != tt.exact || c.How() != tt.how {
			t.Errorf("For(%q) is exact %t by %q, want %t by %q", tt.model, c.Exact(), c.How(), tt.exact, tt.how)
		}
	}
}

// TestCount checks counts against the usage that OpenAI's documentation shows for the same
// requests.
func TestCount(t *testing.T) {
	helpful := deem.Request{Messages: []deem.Message{
		{Role: "system", Content: "You are a helpful assistant."}, {Role: "user", Content: "Hello!"},
	}}
	for _, model := range []string{"openai:gpt-4o", "openai:gpt-4"} {
		c := run.CounterOf(model)
		if got := c.Count(helpful); got != 19 {
			t.Errorf("%s: Count = %d, want 19", model, got)
		}
		if got := c.Text("tiktoken is great!"); got != 6 {
			t.Errorf("%s: Text = %d, want 6", model, got)
		}
		if got := c.Text(""); got != 0 {
			t.Errorf("%s: Text of nothing = %d, want 0", model, got)
		}
		if got := c.Text("<|endoftext|>"); got < 3 {
			t.Errorf("%s: a mark that stands in a text counts %d, want it as text", model, got)
		}
		withSchema := helpful
		withSchema.Schema = []byte(`{"type":"object"}`)
		if got := c.Count(withSchema); got != 19+c.Text(`{"type":"object"}`) {
			t.Errorf("%s: Count with a schema = %d", model, got)
		}
	}
}

// TestLines checks that counting line by line equals counting the whole text.
func TestLines(t *testing.T) {
	whole := map[string]*codec.Codec{"openai:gpt-4o": codec.NewO200kBase(), "openai:gpt-4": codec.NewCl100kBase()}
	text := rapid.StringOf(rapid.RuneFrom([]rune("aZé界7.,-/'\"{}\n\r\t \u00a0\u2028\u3000’")))
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "s")
		for model, c := range whole {
			want, err := c.Count(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := run.CounterOf(model).Text(s); got != want {
				t.Errorf("%s: Text(%q) = %d, want %d", model, s, got, want)
			}
		}
	})
}

// TestEstimate checks estimates against the counts of a real tokenizer on the prompts of
// this repository, for a model with as many tokens.
func TestEstimate(t *testing.T) {
	exact, llama := run.CounterOf("openai:gpt-4"), run.CounterOf("ollama:llama3.2")
	texts := map[string]string{
		"Chinese": strings.Repeat("用户在五月十二日说过，他搬到了上海，并且在一家医院工作了七年。", 20),
		"JSON":    strings.Repeat(`{"label": "correct", "score": 0.75, "reason": "both say seven years"}`+"\n", 20),
	}
	for _, dir := range []string{"judge", "benchmark", "docs", "stat"} {
		texts[dir] = allTexts(t, filepath.Join("..", "..", dir))
	}
	for name, text := range texts {
		got, want := llama.Text(text), exact.Text(text)
		if ratio := float64(got) / float64(want); ratio < .8 || ratio > 1.25 {
			t.Errorf("%s: estimate %d beside %d tokens: %.2f", name, got, want, ratio)
		}
	}
}

// allTexts returns prompts, documents and code of a folder, at most 100 KB.
func allTexts(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || b.Len() > 100_000 {
			return err
		}
		if ext := filepath.Ext(path); ext == ".txt" || ext == ".md" || ext == ".go" {
			data, err := os.ReadFile(path)
			b.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEstimateGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := run.CounterOf("anthropic:claude-opus-5")
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if whole, part := c.Text(a+b), c.Text(a); whole < part {
			t.Errorf("Text(%q) = %d, less than that of its beginning, %d", a+b, whole, part)
		}
	})
}

func TestInvalidText(t *testing.T) {
	for _, model := range []string{"openai:gpt-4o", "anthropic:claude-opus-5"} {
		if got := run.CounterOf(model).Text("a\xff\xfeb"); got < 2 {
			t.Errorf("%s: Text of bytes that are not text = %d, want some", model, got)
		}
	}
}

func TestTogether(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := run.CounterOf("openai:gpt-4o").Text("one\ntwo\nthree\n"); got != 6 {
					t.Errorf("Text = %d, want 6", got)
				}
			}
		})
	}
	group.Wait()
}

// TestManyPrompts counts as many prompts as a large run has, which differ in a few lines,
// and checks that memory use stays bounded. It only logs the time; BenchmarkCount measures
// it.
func TestManyPrompts(t *testing.T) {
	template := strings.Repeat("Judge whether the response gives the same answer as the reference.\nSay yes or no.\n", 24)
	c := run.CounterOf("openai:gpt-4o")
	count := func(from, to int) {
		for i := from; i < to; i++ {
			c.Count(deem.Prompt(template + strings.Repeat("x", i%97) + "\nHe moved in " + time.Unix(int64(i)*1e6, 0).Format(time.RFC3339)))
		}
	}
	count(0, 1000)
	before := heap()
	start := time.Now()
	count(1000, 10_000)
	t.Logf("9,000 prompts of 2 KB took %v", time.Since(start))
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("9,000 prompts leave %d bytes", grown)
	}
}

func BenchmarkCount(b *testing.B) {
	c := run.CounterOf("openai:gpt-4o")
	line := strings.Repeat("How long has Tobias been a nurse? He has been one for six years. ", 31)
	for i := 0; b.Loop(); i++ {
		c.Count(deem.Prompt(time.Unix(int64(i), 0).String() + line)) // All lines differ.
	}
}
