package openai_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/judge/rule"
	"deem/model/openai"
)

// An embedding model is an embedder for the judge "semantic".
var _ rule.Embedder = (*openai.Model)(nil)

// An embedCall is the body of a call for embeddings.
type embedCall struct {
	Model  string   `json:"model"`
	Input  []string `json:"input"`
	Format string   `json:"encoding_format"`
}

// embedServer answers calls for embeddings with the given function.
func embedServer(t *testing.T, answer func(w http.ResponseWriter, c embedCall)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var c embedCall
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		answer(w, c)
	}))
	t.Cleanup(server.Close)
	return server
}

// vectorOf returns the embedding of a text on the servers of these tests.
func vectorOf(text string) []float32 { return []float32{float32(len(text)), 1.5, -2} }

// An embedding is an element of an answer.
type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

// send writes an answer with its embeddings in reverse order.
func send(w io.Writer, c embedCall, form func([]float32) any) {
	var data []embedding
	for i := len(c.Input) - 1; i >= 0; i-- {
		data = append(data, embedding{"embedding", i, form(vectorOf(c.Input[i]))})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": c.Model, "usage": map[string]int{"prompt_tokens": 3}})
}

func numbers(v []float32) any { return v }

func packed(v []float32) any {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func TestEmbed(t *testing.T) {
	for name, form := range map[string]func([]float32) any{"numbers": numbers, "base64": packed} {
		var calls []embedCall
		server := embedServer(t, func(w http.ResponseWriter, c embedCall) {
			calls = append(calls, c)
			send(w, c, form)
		})
		var texts []string
		var want [][]float32
		for i := range 300 {
			texts = append(texts, strings.Repeat("x", i%7))
			want = append(want, vectorOf(texts[i]))
		}
		m := open(t, openai.Options{Model: "e5", BaseURL: server.URL})
		got, err := m.Embed(t.Context(), texts)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: Embed, %v (-want +got):\n%s", name, err, diff)
		}
		var sizes []int
		for _, c := range calls {
			sizes = append(sizes, len(c.Input))
			if c.Model != "e5" || c.Format != "float" {
				t.Errorf("%s: asked for %s as %s", name, c.Model, c.Format)
			}
		}
		if diff := cmp.Diff([]int{128, 128, 44}, sizes); diff != "" {
			t.Errorf("%s: texts of each call (-want +got):\n%s", name, diff)
		}
	}
}

// TestEmbedLongTexts checks that a call is limited in bytes too, and that a text longer
// than the limit is sent alone.
func TestEmbedLongTexts(t *testing.T) {
	var sizes []int
	server := embedServer(t, func(w http.ResponseWriter, c embedCall) {
		sizes = append(sizes, len(c.Input))
		send(w, c, numbers)
	})
	long := strings.Repeat("x", 100<<10)
	texts := []string{strings.Repeat("y", 300<<10), long, long, long, "z", long}
	if _, err := open(t, openai.Options{Model: "e5", BaseURL: server.URL}).Embed(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, sizes); diff != "" {
		t.Errorf("texts of each call (-want +got):\n%s", diff)
	}
}

func TestEmbedNothing(t *testing.T) {
	got, err := open(t, openai.Options{Model: "e5", BaseURL: "http://127.0.0.1:1"}).Embed(t.Context(), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("Embed of no text = %v, %v", got, err)
	}
}

func TestEmbedURL(t *testing.T) {
	for base, want := range map[string]string{
		"":                                     "https://api.openai.com/v1/embeddings",
		"localhost:11434":                      "http://localhost:11434/v1/embeddings",
		"http://host/v1/embeddings":            "http://host/v1/embeddings",
		"http://host/v1/embeddings/":           "http://host/v1/embeddings",
		"https://host/api/v1/chat/completions": "https://host/api/v1/embeddings",
		"https://me.openai.azure.com/openai/deployments/e5?api-version=2024-10-21": "https://me.openai.azure.com/openai/deployments/e5/embeddings?api-version=2024-10-21",
	} {
		var got string
		client := &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return body(strings.NewReader(`{"data":[{"embedding":[1]}]}`)), nil
		})}
		v, err := open(t, openai.Options{Model: "m", BaseURL: base, Key: "k", HTTPClient: client}).Embed(t.Context(), []string{"a"})
		if err != nil || got != want || len(v) != 1 {
			t.Errorf("base URL %q called %s: %v, %v, want %s", base, got, v, err, want)
		}
	}
}

// TestEmbedTrouble makes servers return malformed lists of vectors.
func TestEmbedTrouble(t *testing.T) {
	for _, tt := range []struct {
		status         int
		body           string
		kind           deem.Kind
		passing, fatal bool
		want           string
	}{
		{200, `nix`, deem.Provider, true, false, "read answer"},
		{200, `<html><title>Welcome</title></html>`, deem.Provider, true, false, "web page: Welcome"},
		{200, `{}`, deem.Provider, true, false, "0 embeddings for 2 texts"},
		{200, `{"data":[{"index":0,"embedding":[1]}]}`, deem.Provider, true, false, "1 embeddings for 2 texts"},
		{200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, deem.Provider, true, false, "comes twice"},
		{200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, deem.Provider, true, false, "is of no text"},
		{200, `{"data":[{"index":-1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, deem.Provider, true, false, "is of no text"},
		{200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[1]}]}`, deem.Provider, true, false, "is empty"},
		{200, `{"data":[{"index":0,"embedding":null},{"index":1,"embedding":[1]}]}`, deem.Provider, true, false, "is empty"},
		{200, `{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`, deem.Provider, true, false, "embeddings of length 2 and 1"},
		{200, `{"data":[{"embedding":"AAAAAA=="},{"embedding":"AAAA"}]}`, deem.Provider, true, false, "an embedding of 3 bytes"},
		{200, `{"data":[{"embedding":"?"},{"embedding":"?"}]}`, deem.Provider, true, false, "read answer"},
		{200, `{"data":[{"embedding":"AADAfw=="},{"embedding":[1]}]}`, deem.Provider, true, false, "not a number"},
		{200, `{"error":{"message":"upstream is down","code":502}}`, deem.Provider, true, false, "upstream is down"},
		{400, `{"error":{"message":"input cannot be an empty string","param":"input"}}`, deem.Provider, false, false, "input cannot be an empty string"},
		{401, `{"error":{"message":"bad key s3cr3t-0123","code":"invalid_api_key"}}`, deem.Provider, false, true, "bad key [redacted]"},
		{404, `{"error":"model \"e5\" not found, try pulling it first"}`, deem.Provider, false, true, "try pulling it first"},
		{404, `404 page not found`, deem.Provider, false, true, "404 page not found"},
		{429, `{"error":{"message":"slow down"}}`, deem.Provider, true, false, "slow down"},
		{504, ``, deem.Timeout, true, false, "gateway timeout"},
	} {
		server := embedServer(t, func(w http.ResponseWriter, _ embedCall) {
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		})
		m := open(t, openai.Options{Model: "e5", BaseURL: server.URL, Key: "s3cr3t-0123"})
		v, err := m.Embed(t.Context(), []string{"a", "b"})
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || v != nil || !strings.Contains(me.Error(), tt.want) {
			t.Errorf("%d %s: %v, %v, want an error with %q", tt.status, tt.body, v, err, tt.want)
			continue
		}
		if me.Kind != tt.kind || me.Passing != tt.passing || me.Fatal != tt.fatal {
			t.Errorf("%d %s: %s passing %t fatal %t, want %s %t %t", tt.status, tt.body, me.Kind, me.Passing, me.Fatal, tt.kind, tt.passing, tt.fatal)
		}
		if me.Fatal && deem.HintOf(err) == "" {
			t.Errorf("%d %s: no hint", tt.status, tt.body)
		}
		if text := fmt.Sprintf("%v %+v %#v %s", err, err, err, deem.HintOf(err)); strings.Contains(text, "s3cr3t") {
			t.Errorf("%d %s: the key shows in %s", tt.status, tt.body, text)
		}
	}
}

// TestEmbedOtherLength makes a server change the length of its vectors between two calls.
func TestEmbedOtherLength(t *testing.T) {
	n := 0
	server := embedServer(t, func(w http.ResponseWriter, c embedCall) {
		n++
		send(w, c, func(v []float32) any { return v[:n] })
	})
	v, err := open(t, openai.Options{Model: "e5", BaseURL: server.URL}).Embed(t.Context(), make([]string, 200))
	if _, ok := errors.AsType[*deem.ModelError](err); !ok || v != nil {
		t.Errorf("Embed = %v, %v, want a *deem.ModelError", v, err)
	}
}

func TestEmbedWithoutKey(t *testing.T) {
	_, err := open(t, openai.Options{Model: "text-embedding-3-small"}).Embed(t.Context(), []string{"a"})
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || !me.Fatal || deem.HintOf(err) == "" {
		t.Errorf("without a key: %v, want a fatal error with a hint", err)
	}
}

// TestEmbedInterrupted distinguishes the end of the caller's context from a timeout of the
// call.
func TestEmbedInterrupted(t *testing.T) {
	release := make(chan struct{})
	server := embedServer(t, func(http.ResponseWriter, embedCall) { <-release })
	defer close(release)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := open(t, openai.Options{Model: "e5", BaseURL: server.URL}).Embed(ctx, []string{"a"})
	if _, isModel := errors.AsType[*deem.ModelError](err); isModel || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v, want the context's error", err)
	}
	if _, err := open(t, openai.Options{Model: "e5", BaseURL: server.URL}).Embed(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in a done context: %v, want its error", err)
	}
	_, err = open(t, openai.Options{Model: "e5", BaseURL: server.URL, Timeout: 20 * time.Millisecond}).Embed(t.Context(), []string{"a"})
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Kind != deem.Timeout || !me.Passing {
		t.Errorf("no answer: %v, want a timeout that may pass", err)
	}
}
