package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/model/ollama"
)

// embedCall is the body of a call for embeddings.
type embedCall struct {
	Model    string          `json:"model"`
	Input    []string        `json:"input"`
	Truncate *bool           `json:"truncate"`
	Options  json.RawMessage `json:"options"`
}

// embedServer starts a server for embeddings.
func embedServer(t *testing.T, answer func(http.ResponseWriter, embedCall)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call embedCall
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil || r.URL.Path != "/api/embed" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		answer(w, call)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// lengths answers with vectors that contain the lengths of the texts.
func lengths(w http.ResponseWriter, call embedCall) {
	vectors := [][]float32{}
	for _, text := range call.Input {
		vectors = append(vectors, []float32{float32(len(text)), 1})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"model": call.Model, "embeddings": vectors, "prompt_eval_count": 8})
}

func TestEmbed(t *testing.T) {
	var batches []int
	base := embedServer(t, func(w http.ResponseWriter, call embedCall) {
		if call.Model != "nomic-embed-text" || call.Truncate == nil || *call.Truncate || call.Options != nil {
			t.Errorf("the call is %+v, want one that does not truncate", call)
		}
		batches = append(batches, len(call.Input))
		lengths(w, call)
	})
	var texts []string
	var want [][]float32
	for i := range 300 {
		texts = append(texts, strings.Repeat("x", i))
		want = append(want, []float32{float32(i), 1})
	}
	texts = append(texts, strings.Repeat("y", 300<<10), "z")
	want = append(want, []float32{300 << 10, 1}, []float32{1, 1})
	got, err := open(t, ollama.Options{Model: "nomic-embed-text", BaseURL: base}).Embed(t.Context(), texts)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, vectors (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]int{128, 128, 44, 1, 1}, batches); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if got, err := open(t, ollama.Options{Model: "m", BaseURL: base}).Embed(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no texts gave %v, %v", got, err)
	}
}

func TestEmbedWindow(t *testing.T) {
	base := embedServer(t, func(w http.ResponseWriter, call embedCall) {
		if string(call.Options) != `{"num_ctx":2048}` {
			t.Errorf("the options are %s, want a window of 2048", call.Options)
		}
		lengths(w, call)
	})
	if _, err := open(t, ollama.Options{Model: "m", BaseURL: base, ContextLength: 2048}).Embed(t.Context(), []string{"a"}); err != nil {
		t.Error(err)
	}
}

func TestEmbedErrors(t *testing.T) {
	tests := []struct {
		name           string
		status         int
		body           string
		passing, fatal bool
	}{
		{"not there", 404, `{"error":"model 'm' not found, try pulling it first"}`, false, true},
		{"no embedding model", 400, `{"error":"this model does not support embeddings"}`, false, true},
		{"too long", 400, `{"error":"the input length exceeds the context length"}`, false, false},
		{"busy", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, true, false},
		{"an error without its status", 200, `{"error":"boom"}`, true, false},
		{"too few", 200, `{"embeddings":[[1,2]]}`, true, false},
		{"of two lengths", 200, `{"embeddings":[[1,2],[1]]}`, true, false},
		{"empty", 200, `{"embeddings":[[],[]]}`, true, false},
		{"garbled", 200, `{"embeddings":[[1,`, true, false},
	}
	for _, tt := range tests {
		base := embedServer(t, func(w http.ResponseWriter, _ embedCall) {
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		})
		_, err := open(t, ollama.Options{Model: "m", BaseURL: base}).Embed(t.Context(), []string{"a", "b"})
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || me.Passing != tt.passing || me.Fatal != tt.fatal {
			t.Errorf("%s: error %#v, want passing %v and fatal %v", tt.name, err, tt.passing, tt.fatal)
		}
		if tt.fatal && deem.HintOf(err) == "" {
			t.Errorf("%s: no hint", tt.name)
		}
	}
}

// TestEmbedUnlikeBatches returns vectors of another length in the second batch.
func TestEmbedUnlikeBatches(t *testing.T) {
	first := true
	base := embedServer(t, func(w http.ResponseWriter, call embedCall) {
		if first {
			first = false
			lengths(w, call)
			return
		}
		fmt.Fprint(w, `{"embeddings":[[1,2,3]]}`)
	})
	_, err := open(t, ollama.Options{Model: "m", BaseURL: base}).Embed(t.Context(), make([]string, 129))
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Fatal {
		t.Errorf("error %v, want one about the lengths", err)
	}
}

func TestEmbedInterrupted(t *testing.T) {
	release := make(chan struct{})
	base := embedServer(t, func(http.ResponseWriter, embedCall) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := open(t, ollama.Options{Model: "m", BaseURL: base}).Embed(ctx, []string{"a"})
	if _, isModel := errors.AsType[*deem.ModelError](err); isModel || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v, want the error of the context", err)
	}
	_, err = open(t, ollama.Options{Model: "m", BaseURL: base, Timeout: 20 * time.Millisecond}).Embed(t.Context(), []string{"a"})
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Kind != deem.Timeout || !me.Passing {
		t.Errorf("no answer: %v, want a timeout that may pass", err)
	}
}
