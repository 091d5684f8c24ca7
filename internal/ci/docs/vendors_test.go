package docs_test

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// startVendors starts a server that answers as the vendors in the documents do, so that
// commands which need a key run word for word. What it says of an item has no meaning.
func startVendors(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openai/v1/chat/completions", answer(func(text string) any {
		return map[string]any{
			"model": "made-up", "usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 1},
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
		}
	}))
	mux.HandleFunc("POST /anthropic/v1/messages", answer(func(text string) any {
		return map[string]any{
			"type": "message", "model": "made-up", "stop_reason": "end_turn", "usage": map[string]int{"input_tokens": 100, "output_tokens": 1},
			"content": []any{map[string]string{"type": "text", "text": text}},
		}
	}))
	mux.HandleFunc("POST /ollama/api/chat", answer(func(text string) any {
		return map[string]any{
			"model": "made-up", "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 1,
			"message": map[string]string{"role": "assistant", "content": text},
		}
	}))
	mux.HandleFunc("POST /ollama/api/show", answer(func(string) any {
		return map[string]any{"model_info": map[string]any{"general.architecture": "llama", "llama.context_length": 131072}}
	}))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// answer replies to the prompt of a request, in a vendor's form.
func answer(form func(text string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var body struct {
			Messages []struct{ Content any }
		}
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		prompt, _ := json.Marshal(body.Messages)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(form(verdict(string(prompt))))
	}
}

// verdict says yes to three prompts of four, in the words that the prompt asks for.
func verdict(prompt string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(prompt))
	yes := h.Sum32()%4 > 0
	for _, words := range [][3]string{
		{"relevance", `{"reasoning": "As it should be.", "correctness": 9, "relevance": 9}`, `{"reasoning": "Another day.", "correctness": 2, "relevance": 9}`},
		{"INCORRECT", "CORRECT", "INCORRECT"},
		{"DIFFERENT", "SAME", "DIFFERENT"},
		{"SECOND or TIE", "FIRST", "SECOND"},
		{"Reply with a JSON object", `{"reason": "As it should be.", "label": "right"}`, `{"reason": "Another day.", "label": "wrong"}`},
	} {
		if strings.Contains(prompt, words[0]) {
			if yes {
				return words[1]
			}
			return words[2]
		}
	}
	if yes {
		return "yes"
	}
	return "no"
}
