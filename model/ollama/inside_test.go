package ollama

import (
	"encoding/json"
	"math/bits"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"deem"
	"deem/internal/wire"
)

// FuzzReadFacts checks that parsing a description of a model is deterministic, and that any
// description gives usable windows.
func FuzzReadFacts(f *testing.F) {
	for _, seed := range []string{
		`{"model_info":{"general.architecture":"llama","llama.context_length":131072,"clip.vision.context_length":77},"capabilities":["thinking"]}`,
		`{"model_info":{"a.context_length":1e300,"b.context_length":-1,"c.context_length":0.5,"d.context_length":8192}}`,
		`{"model_info":{"general.architecture":7,".context_length":5},"parameters":"num_ctx 99999999999\nnum_ctx 8192","remote_host":"h"}`,
		`{"model_info":null,"parameters":"num_ctx"}`, `[]`, `{`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := readFacts(text)
		if again := readFacts(text); got != again {
			t.Errorf("read as %+v and as %+v", got, again)
		}
		if got.length < 0 || got.floor < minWindow {
			t.Errorf("read as %+v: no window is that small", got)
		}
	})
}

// TestContextLength checks that the length is that of the model's own architecture.
func TestContextLength(t *testing.T) {
	for text, want := range map[string]int{
		`{"general.architecture":"llama","clip.context_length":77,"llama.context_length":131072}`: 131072,
		`{"general.architecture":"llama","clip.context_length":77}`:                               77,
		`{"a.context_length":0,"b.context_length":2048,"c.context_length":4096}`:                  2048,
		`{"general.architecture":"llama"}`:                                                        0,
	} {
		if got := readFacts([]byte(`{"model_info":` + text + `}`)).length; got != want {
			t.Errorf("the length in %s is %d, want %d", text, got, want)
		}
	}
}

// FuzzDecode checks that any answer is a reply or an error, and that a reply can be stored.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","message":{"content":"yes","thinking":"hm"},"done":true,"done_reason":"stop","logprobs":[{"token":"yes","logprob":-1,"top_logprobs":[{}]}]}`,
		`{"message":{"content":"ye"},"done":false}`, `{"message":{},"done":true,"prompt_eval_count":-3}`, `{"message":null,"done":true}`, `{"error":"x"}`, `{"error":null}`, `[]`, `null`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	m, err := New(Options{Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := m.(*client).decode(wire.Answer{Status: 200, Text: text}, 0, facts{})
		if err != nil {
			if reply.Text != "" || reply.Stop != "" {
				t.Errorf("decode gave both the reply %+v and the error %v", reply, err)
			}
			return
		}
		if reply.Refusal != "" {
			t.Errorf("decode made up the refusal %q", reply.Refusal)
		}
		if !utf8.ValidString(reply.Text) {
			t.Errorf("decode gave %q, which is not UTF-8", reply.Text)
		}
		if reply.Stop == "" {
			t.Error("decode gave no reason to stop")
		}
		if u := reply.Usage; min(u.Input, u.Output, u.CachedInput, u.Reasoning) < 0 {
			t.Errorf("decode gave the usage %+v", u)
		}
		if _, err := json.Marshal(reply); err != nil {
			t.Errorf("the reply cannot be kept: %v", err)
		}
	})
}

// FuzzVectors checks that there are as many vectors as texts, all of the same length.
func FuzzVectors(f *testing.F) {
	for _, seed := range []string{`{"embeddings":[[1,2],[3,4]]}`, `{"embeddings":[[1],[3,4]]}`, `{"embeddings":[[],[]]}`, `{"error":"x"}`, `{}`, `[]`} {
		f.Add([]byte(seed), 2)
	}
	m, err := New(Options{Model: "m"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		vectors, err := m.(*client).decodeVectors(wire.Answer{Status: 200, Text: text}, n)
		if err != nil {
			return
		}
		if len(vectors) != n {
			t.Errorf("%d vectors for %d texts", len(vectors), n)
		}
		for _, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				t.Errorf("vectors of length %d and %d", len(v), len(vectors[0]))
			}
		}
	})
}

// FuzzTrouble checks that an error is not both transient and fatal, has a hint if it is
// fatal, and is one short line.
func FuzzTrouble(f *testing.F) {
	f.Add(400, `{"error":"{\"error\":{\"message\":\"m\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":-5}}"}`, true)
	f.Add(404, `{"error":"model 'm' not found"}`, false)
	f.Add(500, `{"error":"model requires more system memory"}`, true)
	f.Add(200, `{"error":{"message":"x"}}`, false)
	f.Add(302, "<html><title>\n</title>", false)
	opened, err := New(Options{Model: "m", Key: "secret-key-0123456789"})
	if err != nil {
		f.Fatal(err)
	}
	m := opened.(*client)
	f.Fuzz(func(t *testing.T, status int, body string, grown bool) {
		if status < 200 || status > 599 {
			return
		}
		a := wire.Answer{Status: status, Text: []byte(body)}
		err := m.statusError(a, grown)
		me, ok := err.(*deem.ModelError) //nolint:errorlint // It is made here.
		if !ok || me.Passing && me.Fatal {
			t.Fatalf("status %d with %q gave %#v", status, body, err)
		}
		if me.Fatal && deem.HintOf(err) == "" {
			t.Errorf("status %d with %q stops the run without a hint", status, body)
		}
		if text := err.Error(); len(text) > 700 || strings.ContainsAny(text, "\r\n") || strings.Contains(text, "secret-key") {
			t.Errorf("%q is not one short line without the key", text)
		}
		if next, ok := m.wider(m.trouble(a), deem.Prompt("q"), facts{length: 8192, floor: 4096}, 4096); ok && (next <= 4096 || next > 8192) {
			t.Errorf("status %d with %q widens the window from 4096 to %d of 8192", status, body, next)
		}
	})
}

// TestWindowProperties: a window has room for the prompt and the reply, or is the maximum;
// it is a power of two, the floor or the maximum; and it is never smaller than one that
// worked.
func TestWindowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opened, err := New(Options{Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		m := opened.(*client)
		f := facts{
			length: rapid.SampledFrom([]int{0, 2048, 8192, 100_000}).Draw(t, "length"),
			floor:  rapid.SampledFrom([]int{minWindow, 10_000}).Draw(t, "floor"),
			thinks: rapid.Bool().Draw(t, "thinks"),
		}
		worked := 0
		for range rapid.IntRange(1, 5).Draw(t, "calls") {
			req := deem.Prompt(strings.Repeat("1", rapid.IntRange(0, 50_000).Draw(t, "digits")))
			req.MaxTokens = rapid.IntRange(0, 3000).Draw(t, "max tokens")
			w := m.window(req, f)
			if need := len(req.Messages[0].Content) + req.MaxTokens; w < need && w != f.length {
				t.Errorf("a window of %d for %d tokens", w, need)
			}
			if bits.OnesCount(uint(w)) != 1 && w != f.floor && w != f.length {
				t.Errorf("a window of %d, which is neither a power of two nor a bound", w)
			}
			if w < worked || f.length > 0 && w > f.length {
				t.Errorf("a window of %d after %d, of at most %d", w, worked, f.length)
			}
			m.grow(w)
			worked = w
		}
	})
}

// TestEstimate pins the estimates of a few texts, with upper bounds from current
// vocabularies.
func TestEstimate(t *testing.T) {
	tests := []struct {
		text     string
		atLeast  int // the count of a real vocabulary
		lessThan int
	}{
		{"", 0, 1},
		{"The quick brown fox jumps over the lazy dog.", 10, 20},
		{"3.14159265358979", 16, 17},
		{"{\"label\": \"CORRECT\"}", 9, 20},
		{"\u8fd9\u662f\u4e00\u4e2a\u6d4b\u8bd5", 6, 13},
		{"\U0001F600\U0001F600", 2, 5},
	}
	for _, tt := range tests {
		if got := estimateText(tt.text); got < tt.atLeast || got >= tt.lessThan {
			t.Errorf("estimateText(%q) = %d, want from %d up to %d", tt.text, got, tt.atLeast, tt.lessThan-1)
		}
	}
}

// TestCut uses token counts observed on servers, with a window of 512 tokens.
func TestCut(t *testing.T) {
	tests := []struct {
		name          string
		input, output int
		window        int
		cut           bool
	}{
		{"fits", 318, 7, 512, false},
		{"not counted", 0, 7, 512, false},
		{"the reply filled the window", 61, 451, 512, false},
		{"the reply filled the window and one more", 61, 452, 512, false},
		{"cut to the window", 512, 11, 512, true},
		{"pushed out by the reply", 496, 30, 512, true},
		{"a larger window than we asked for", 600, 30, 512, false},
		{"no window of ours", 9000, 30, 0, false},
	}
	for _, tt := range tests {
		err := cut(deem.Usage{Input: tt.input, Output: tt.output}, tt.window)
		if (err != nil) != tt.cut {
			t.Errorf("%s: cut(%d and %d in %d) = %v, want an error: %v", tt.name, tt.input, tt.output, tt.window, err, tt.cut)
		}
	}
}
