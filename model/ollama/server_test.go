package ollama_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"deem/model/ollama"
)

// A machine is a local fake of an Ollama server with its handling of windows. Its model has
// one token per word.
type machine struct {
	trained  int    // the maximum window of the model; 0 if not reported
	params   string // of the model, as Ollama shows them
	remote   bool
	thinking bool
	memory   int  // the largest window that fits in memory; 0 means any
	old      bool // it ignores truncate and shift, like versions before 0.12.6
	bare     bool // it refuses without a token count, like 0.12.6
	writes   int  // the length of a reply in tokens; 0 means 3

	showStatus int // of the answer about the model; 0 means 200
	showBody   string

	mu      sync.Mutex
	shows   int
	windows []int // of each chat, in order
}

// chatCall is the body of a chat.
type chatCall struct {
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
	Truncate *bool `json:"truncate"`
	Shift    *bool `json:"shift"`
	Options  struct {
		NumCtx     int `json:"num_ctx"`
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

// start starts the server.
func (s *machine) start(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/chat", s.chat)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// open starts the server and returns a model that calls it.
func (s *machine) open(t *testing.T, o ollama.Options) *ollama.Model {
	t.Helper()
	o.Model, o.BaseURL = "llama3.2", s.start(t)
	return open(t, o)
}

// asked returns the windows of the chats, and the number of calls of /api/show.
func (s *machine) asked() (windows []int, shows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int{}, s.windows...), s.shows
}

func (s *machine) show(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.shows++
	status, body := s.showStatus, s.showBody
	s.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
		return
	}
	info := map[string]any{"general.architecture": "llama", "llama.embedding_length": 3072}
	if s.trained > 0 {
		info["llama.context_length"] = s.trained
	}
	answer := map[string]any{
		"model_info": info, "parameters": s.params, "capabilities": []string{"completion"},
		"details": map[string]any{"family": "llama", "parameter_size": "3.2B", "quantization_level": "Q4_K_M"},
	}
	if s.thinking {
		answer["capabilities"] = []string{"completion", "thinking"}
	}
	if s.remote {
		answer["remote_model"], answer["remote_host"] = "gpt-oss:120b", "https://ollama.com:443"
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *machine) chat(w http.ResponseWriter, r *http.Request) {
	var call chatCall
	if json.NewDecoder(r.Body).Decode(&call) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	window := call.Options.NumCtx
	s.mu.Lock()
	s.windows = append(s.windows, window)
	s.mu.Unlock()
	words := 0
	for _, m := range call.Messages {
		words += len(strings.Fields(m.Content))
	}
	if s.memory > 0 && window > s.memory {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, `{"error":"model requires more system memory (64.2 GiB) than is available (15.1 GiB)"}`)
		return
	}
	if window == 0 {
		window = 1 << 20
	}
	refuses := !s.old && call.Truncate != nil && !*call.Truncate
	if words >= window && refuses {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, s.refusal(words, window))
		return
	}
	s.reply(w, call, min(words, window), window)
}

// refusal returns the server's error for a prompt that does not fit.
func (s *machine) refusal(words, window int) string {
	if s.bare {
		return `{"error":"the input length exceeds the context length"}`
	}
	inner := fmt.Sprintf(`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, words, window, words, window)
	text, _ := json.Marshal(map[string]string{"error": inner})
	return string(text)
}

// reply writes a reply, which stops at the end of the window unless the server shifts the
// prompt out of it.
func (s *machine) reply(w http.ResponseWriter, call chatCall, prompt, window int) {
	length, reason := s.writes, "stop"
	if length == 0 {
		length = 3
	}
	if n := call.Options.NumPredict; n > 0 && n < length {
		length, reason = n, "length"
	}
	stays := !s.old && call.Shift != nil && !*call.Shift
	if stays && prompt+length > window+1 {
		length, reason = window+1-prompt, "length"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": "llama3.2", "message": map[string]any{"role": "assistant", "content": "yes"},
		"done": true, "done_reason": reason, "prompt_eval_count": prompt, "eval_count": length,
	})
}
