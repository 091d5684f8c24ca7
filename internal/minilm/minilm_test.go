package minilm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/minilm"
)

// weights is the folder in which scripts/minilm.sh puts the weights. `make test` runs it.
const weights = "../../.tools/minilm"

// realModel opens the real model. If its weights are missing, the test is skipped; the tiny
// models of reference_test.go are always tested.
func realModel(tb testing.TB) *minilm.Model {
	tb.Helper()
	if _, err := os.Stat(filepath.Join(weights, "model.safetensors")); errors.Is(err, fs.ErrNotExist) {
		tb.Skip("the weights of all-MiniLM-L6-v2 are missing; scripts/minilm.sh .tools/minilm downloads them")
	}
	m, err := minilm.Open(weights)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// embed returns the vectors of the texts or fails the test.
func embed(tb testing.TB, m *minilm.Model, texts ...string) [][]float32 {
	tb.Helper()
	vectors, err := m.Embed(tb.Context(), texts)
	if err != nil || len(vectors) != len(texts) {
		tb.Fatalf("Embed(%q) = %d vectors, %v", texts, len(vectors), err)
	}
	return vectors
}

func product(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

// A pair is two sentences with their cosine in the original implementation (PyTorch 1.13,
// the same weights), to four decimals.
type pair struct {
	A, B   string
	Cosine float64
}

func readPairs(tb testing.TB) []pair {
	tb.Helper()
	text, err := os.ReadFile("testdata/pairs.json")
	if err != nil {
		tb.Fatal(err)
	}
	var pairs []pair
	if err := json.Unmarshal(text, &pairs); err != nil || len(pairs) < 13 {
		tb.Fatalf("%d pairs, %v", len(pairs), err)
	}
	return pairs
}

func TestPairs(t *testing.T) {
	m := realModel(t)
	for _, p := range readPairs(t) {
		v := embed(t, m, p.A, p.B)
		// Rounding to four decimals is off by at most half a unit, and our own rounding is
		// far below that.
		if got := product(v[0], v[1]); math.Abs(got-p.Cosine) > .00006 {
			t.Errorf("cosine of %q and %q = %.5f, want %.4f", p.A, p.B, got, p.Cosine)
		}
	}
	if got, want := m.Name(), "minilm:05dc8f0f0a19"; got != want {
		t.Errorf("Name() = %s, want %s: the name must change when the vectors do, and only then", got, want)
	}
}

// TestEdges embeds unusual texts with the real weights.
func TestEdges(t *testing.T) {
	m := realModel(t)
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"white space is nothing", "", " \t\n ", true},
		{"the empty text is none other", "", "a", false},
		{"case and accents do not count", "Crème Brûlée", "creme brulee", true},
		{"nor do precomposed letters", "Crème", "Cre\u0300me", true},
		{"what cannot be seen is not there", "pass\u200bword\x00", "password", true},
		{"bytes that are not text are not there", "pass\xffword", "password", true},
	} {
		v := embed(t, m, tt.a, tt.b)
		if got := cmp.Equal(v[0], v[1]); got != tt.same {
			t.Errorf("%s: the same is %t, want %t", tt.name, got, tt.same)
		}
		for i := range v {
			if n := product(v[i], v[i]); math.Abs(n-1) > 1e-5 {
				t.Errorf("%s: length %v, want 1", tt.name, n)
			}
		}
	}
}

// TestEmbedIsTheSameInAnyCompany checks to the bit that a vector does not depend on the
// other texts, on repetition, on the cache, or on the caller.
func TestEmbedIsTheSameInAnyCompany(t *testing.T) {
	dir := tiny{dtype: "F32"}.write(t)
	texts := []string{"a b c", "", "c", "a b c", strings.Repeat("b a ", 200), "zzz", "b", "c c c c c", "", "a"}
	alone := make([][]float32, len(texts))
	for i, text := range texts {
		alone[i] = embed(t, open(t, dir), text)[0]
	}
	m := open(t, dir)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				v, err := m.Embed(t.Context(), texts)
				if diff := cmp.Diff(alone, v); diff != "" || err != nil {
					t.Errorf("Embed alone and together (-alone +together), %v:\n%s", err, diff)
				}
			}
		})
	}
	wg.Wait()
}

// TestVectorsAreTheCallers checks that writing to a vector does not change any other.
func TestVectorsAreTheCallers(t *testing.T) {
	m := open(t, tiny{dtype: "F32"}.write(t))
	first := embed(t, m, "a b", "a b", "c")
	want := append([]float32(nil), first[1]...)
	clear(first[0])
	if diff := cmp.Diff(want, first[1]); diff != "" {
		t.Errorf("two vectors of one call are one (-want +got):\n%s", diff)
	}
	clear(first[1])
	for range 2 {
		again := embed(t, m, "a b")[0]
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("the vector that is kept was written to (-want +got):\n%s", diff)
		}
		clear(again)
	}
}

// TestEmbedManyTexts has more texts than the cache.
func TestEmbedManyTexts(t *testing.T) {
	m := open(t, tiny{dtype: "F32"}.write(t))
	var texts []string
	for i := range 5000 {
		texts = append(texts, strings.NewReplacer("0", "a ", "1", "b ", "2", "c ").Replace(strconv.FormatInt(int64(i), 3)))
	}
	first := embed(t, m, texts...)
	if diff := cmp.Diff(first, embed(t, m, texts...)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func TestEmbedNothing(t *testing.T) {
	if v := embed(t, open(t, tiny{dtype: "F32"}.write(t))); len(v) != 0 {
		t.Errorf("Embed of no text = %v", v)
	}
}

func TestEmbedInterrupted(t *testing.T) {
	m := open(t, tiny{dtype: "F32"}.write(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // more often than there are slots, none of which may be lost
		if v, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || v != nil {
			t.Errorf("Embed in a done context = %v, %v, want its error", v, err)
		}
	}
	// Interrupted work must not be cached.
	if v := embed(t, m, "a")[0]; math.Abs(product(v, v)-1) > 1e-5 {
		t.Errorf("the vector after an interruption is %v", v)
	}
}

// TestEmbedInterruptedMidway cancels calls while they run.
func TestEmbedInterruptedMidway(t *testing.T) {
	m := open(t, tiny{dtype: "F32"}.write(t))
	text := strings.Repeat("a b ", 100)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
			defer cancel()
			v, err := m.Embed(ctx, []string{text + strconv.Itoa(i), "a", text, "b"})
			if err == nil && slices.ContainsFunc(v, func(x []float32) bool { return len(x) != m.Dim() }) {
				t.Errorf("Embed gave no error and the vectors %v", v)
			}
			if err != nil && (!errors.Is(err, context.DeadlineExceeded) || v != nil) {
				t.Errorf("Embed = %v, %v, want nothing and the context's error", v, err)
			}
		})
	}
	wg.Wait()
	embed(t, m, text)
}

// TestName checks that everything that affects a vector affects the name.
func TestName(t *testing.T) {
	names := map[string]string{}
	for what, tm := range map[string]tiny{
		"floats":            {dtype: "F32"},
		"halves":            {dtype: "F16"},
		"another seed":      {dtype: "F32", seed: 1},
		"another tokenizer": {dtype: "F32", vocabTxt: true},
		"more heads":        {dtype: "F32", heads: 4},
	} {
		m := open(t, tm.write(t))
		if !strings.HasPrefix(m.Name(), "minilm:") || len(m.Name()) != len("minilm:")+12 {
			t.Errorf("%s: name %q, want minilm: and 12 digits", what, m.Name())
		}
		if other, seen := names[m.Name()]; seen {
			t.Errorf("%s and %s are both %s", what, other, m.Name())
		}
		names[m.Name()] = what
	}
	dir := tiny{dtype: "F32"}.write(t)
	if a, b := open(t, dir).Name(), open(t, dir).Name(); a != b {
		t.Errorf("one model has the names %s and %s", a, b)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(dir string) error
		want  string
		hint  bool
	}{
		{"no folder", os.RemoveAll, "no such file", true},
		{"no weights", remove("model.safetensors"), "model.safetensors: no such file", true},
		{"no words", remove("tokenizer.json"), "tokenizer.json: no such file", true},
		{"no config", remove("config.json"), "shape [20 12], want [30522 384]", false},
		{"git lfs", write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid"), "pointer of Git LFS", true},
		{"empty weights", write("model.safetensors", ""), "0 bytes are not a safetensors file", false},
		{"a web page", write("model.safetensors", "<html>not found</html>"), "no safetensors file", false},
		{"a header that is not JSON", write("model.safetensors", "\x03\x00\x00\x00\x00\x00\x00\x00nix"), "read header", false},
		{"weights cut off", cut("model.safetensors", 100), "the file is cut off", false},
		{"tokenizer.json is not JSON", write("tokenizer.json", "nix"), "tokenizer.json: invalid character", false},
		{"another tokenizer", write("tokenizer.json", `{"model":{"type":"BPE"}}`), `of type "BPE", want WordPiece`, false},
		{"a cased tokenizer", change("tokenizer.json", `"lowercase":true`, `"lowercase":false`), "want that of an uncased model", false},
		{"no end token", change("tokenizer.json", `"[SEP]":`, `"[END]":`), "no token [SEP]", false},
		{"too many words", change("tokenizer.json", `"##c":`, `"more":20,"##c":`), "they are of different models", false},
		{"config.json is not JSON", write("config.json", "nix"), "config.json: invalid character", false},
		{"another activation", change("config.json", `"gelu"`, `"relu"`), `activation "relu"`, false},
		{"heads that do not fit", change("config.json", `"num_attention_heads":3`, `"num_attention_heads":5`), "not a multiple of 5 heads", false},
		{"more layers than there are", change("config.json", `"num_hidden_layers":2`, `"num_hidden_layers":3`), "no array encoder.layer.2", false},
		{"a wrong size", change("config.json", `"intermediate_size":16`, `"intermediate_size":17`), "shape [16 12], want [17 12]", false},
		{"a negative size", change("config.json", `"intermediate_size":16`, `"intermediate_size":-16`), "not between 1 and", false},
		{"an unknown type", change("model.safetensors", `"F32"`, `"I32"`), `numbers of type "I32"`, false},
		{"a type that is too short", change("model.safetensors", `"F32"`, `"F16"`), "bytes for shape", false},
	} {
		dir := tiny{dtype: "F32"}.write(t)
		if err := tt.spoil(dir); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		m, err := minilm.Open(dir)
		if err == nil || m != nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "minilm: ") {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
		if got := deem.HintOf(err) != ""; got != tt.hint {
			t.Errorf("%s: hint %q", tt.name, deem.HintOf(err))
		}
	}
}

func remove(name string) func(string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
}

func write(name, text string) func(string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
}

func cut(name string, n int64) func(string) error {
	return func(dir string) error {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		return os.Truncate(filepath.Join(dir, name), info.Size()-n)
	}
}

// change replaces a text in a file, which must contain it.
func change(name, from, to string) func(string) error {
	return func(dir string) error {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		changed := strings.ReplaceAll(string(text), from, to)
		if changed == string(text) {
			return errors.New(from + " is not in " + name)
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(changed), 0o600)
	}
}

// TestOpenFindsWeights opens weights with another file name, unless the choice is
// ambiguous.
func TestOpenFindsWeights(t *testing.T) {
	dir := tiny{dtype: "F32"}.write(t)
	usual := filepath.Join(dir, "model.safetensors")
	if err := os.Rename(usual, filepath.Join(dir, "model.fp16.safetensors")); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "other.safetensors"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := minilm.Open(dir); err == nil || deem.HintOf(err) == "" {
		t.Errorf("two files of weights: %v, want an error with a hint", err)
	}
}
