package openai_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// TestLlama calls a real llama.cpp server, which we did not write, to check that our wire
// format is compatible.
func TestLlama(t *testing.T) {
	url := modeltest.Llama(t)
	m := open(t, openai.Options{Model: "random", BaseURL: url, Key: modeltest.Key})
	t.Run("chat", func(t *testing.T) { testLlamaChat(t, m) })
	t.Run("length", func(t *testing.T) { testLlamaLength(t, m) })
	t.Run("schema", func(t *testing.T) { testLlamaSchema(t, m) })
	t.Run("logprobs", func(t *testing.T) { testLlamaLogprobs(t, m) })
	t.Run("embeddings", func(t *testing.T) { testLlamaEmbeddings(t, m) })
	t.Run("errors", func(t *testing.T) { testLlamaErrors(t, url, m) })
}

// testLlamaChat gets twenty replies of nonsense, some of which is not UTF-8.
func testLlamaChat(t *testing.T, m *openai.Model) {
	said, replaced := 0, 0
	for seed := range int64(20) {
		hot := 1.0
		req := deem.Request{
			Messages:    []deem.Message{{Role: "system", Content: "You judge."}, {Role: "user", Content: "Is it so? \u00e4\u4e2d"}},
			MaxTokens:   40,
			Temperature: &hot,
			Seed:        &seed,
		}
		reply, err := m.Complete(t.Context(), req)
		if err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if !utf8.ValidString(reply.Text) {
			t.Errorf("text %q is not UTF-8", reply.Text)
		}
		if reply.Text != "" {
			said++
		}
		if strings.Contains(reply.Text, "\uFFFD") {
			replaced++
		}
		if u := reply.Usage; u.Input < 10 || u.Output < 1 || u.Output > 40 {
			t.Errorf("usage %+v of a short prompt with at most 40 tokens of reply", u)
		}
		if reply.Model == "" || reply.Fingerprint == "" || reply.Attempts != 1 {
			t.Errorf("model %q, fingerprint %q, attempts %d", reply.Model, reply.Fingerprint, reply.Attempts)
		}
	}
	if said < 10 || replaced == 0 {
		t.Errorf("%d of 20 replies have a text and %d were not UTF-8, so this tests less than it should", said, replaced)
	}
}

// seeded returns a request that gets the same reply each time.
func seeded(prompt string) deem.Request {
	req := deem.Prompt(prompt)
	seed := int64(1)
	req.Seed = &seed
	return req
}

func testLlamaLength(t *testing.T, m *openai.Model) {
	req := seeded("Is it so?")
	req.MaxTokens = 3
	reply, err := m.Complete(t.Context(), req)
	if err != nil || reply.Stop != deem.StopLength || reply.Usage.Output != 3 {
		t.Errorf("stop %q after %d tokens, error %v, want length after 3", reply.Stop, reply.Usage.Output, err)
	}
}

func testLlamaSchema(t *testing.T, m *openai.Model) {
	req := seeded("Is it so?")
	req.MaxTokens = 300
	req.Schema = json.RawMessage(`{"type":"object","properties":{"label":{"type":"string","enum":["yes","no"]}},"required":["label"],"additionalProperties":false}`)
	reply, err := m.Complete(t.Context(), req)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	var said struct {
		Label string `json:"label"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &said); err != nil || said.Label != "yes" && said.Label != "no" {
		t.Errorf("text %q, error %v, want an object with a label", reply.Text, err)
	}
	if reply.Stop != deem.StopEnd {
		t.Errorf("stop %q, want end", reply.Stop)
	}
}

func testLlamaLogprobs(t *testing.T, m *openai.Model) {
	req := seeded("Is it so?")
	req.MaxTokens, req.TopLogprobs = 8, 3
	reply, err := m.Complete(t.Context(), req)
	if err != nil || len(reply.Logprobs) == 0 {
		t.Fatalf("%d log-probabilities, error %v, want some", len(reply.Logprobs), err)
	}
	for _, token := range reply.Logprobs {
		if token.Logprob > 0 || len(token.Top) != 3 || !utf8.ValidString(token.Token) {
			t.Errorf("token %+v, want three rivals and a log-probability", token)
		}
		sum := 0.0
		for _, rival := range token.Top {
			sum += math.Exp(rival.Logprob)
		}
		if sum > 1.001 {
			t.Errorf("the rivals of %q have probabilities of %v together", token.Token, sum)
		}
	}
}

func testLlamaEmbeddings(t *testing.T, m *openai.Model) {
	vectors, err := m.Embed(t.Context(), []string{"Is it so?", "It is.", "Is it so?"})
	if err != nil || len(vectors) != 3 || len(vectors[0]) == 0 {
		t.Fatalf("%d vectors, error %v, want 3", len(vectors), err)
	}
	if cosine(vectors[0], vectors[2]) < 0.999 || cosine(vectors[0], vectors[1]) > 0.999 {
		t.Errorf("like texts %v, unlike texts %v", cosine(vectors[0], vectors[2]), cosine(vectors[0], vectors[1]))
	}
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// testLlamaErrors makes the server return its own errors.
func testLlamaErrors(t *testing.T, url string, m *openai.Model) {
	badSchema := deem.Prompt("q")
	badSchema.Schema = json.RawMessage(`{"type":"nonsense"}`)
	tests := []struct {
		name  string
		model *openai.Model
		req   deem.Request
		fatal bool
		hint  string
	}{
		{"too long", m, deem.Prompt(strings.Repeat("word ", 4*modeltest.LlamaContext)), false, ""},
		{"bad schema", m, badSchema, true, "does not take this setting"},
		{"bad request", m, deem.Request{}, false, ""},
		{"bad key", open(t, openai.Options{Model: "random", BaseURL: url, Key: "sk-not-this-one"}), deem.Prompt("q"), true, "OPENAI_API_KEY is not accepted"},
		{"no key", open(t, openai.Options{Model: "random", BaseURL: url}), deem.Prompt("q"), true, "wants a key"},
		{"wrong address", open(t, openai.Options{Model: "random", BaseURL: url + "/v9", Key: modeltest.Key}), deem.Prompt("q"), true, "check the base URL"},
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
