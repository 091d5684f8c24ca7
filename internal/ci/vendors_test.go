package ci_test

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// key is the one that vendors take. It is that of the quick start, where the reader sets
// it as the page says.
const key = "sk-..."

// startVendors starts a server that answers as the vendors in the documents do, so that
// commands which need a key run word for word. Who has none is refused. What it says of
// an item has no meaning, unless a published run recorded what its judge said.
func startVendors(t *testing.T) string {
	t.Helper()
	v := vendors{recorded: recordedReplies(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openai/v1/chat/completions", v.answer("Authorization", "Bearer "+key, openaiReply))
	mux.HandleFunc("POST /anthropic/v1/messages", v.answer("X-Api-Key", key, anthropicReply))
	mux.HandleFunc("POST /google/v1beta/models/{model}", v.answer("X-Goog-Api-Key", key, googleReply))
	mux.HandleFunc("POST /ollama/api/chat", v.answer("", "", ollamaReply))
	mux.HandleFunc("POST /ollama/api/show", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"model_info": map[string]any{"general.architecture": "llama", "llama.context_length": 131072}})
	})
	(&batches{vendors: v}).serve(mux)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func openaiReply(text string) any {
	return map[string]any{
		"model": "made-up", "usage": map[string]int{"prompt_tokens": 100, "completion_tokens": 1},
		"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}},
	}
}

func anthropicReply(text string) any {
	return map[string]any{
		"type": "message", "model": "made-up", "stop_reason": "end_turn", "usage": map[string]int{"input_tokens": 100, "output_tokens": 1},
		"content": []any{map[string]string{"type": "text", "text": text}},
	}
}

func googleReply(text string) any {
	return map[string]any{
		"modelVersion": "made-up", "usageMetadata": map[string]int{"promptTokenCount": 100, "candidatesTokenCount": 1},
		"candidates": []any{map[string]any{"finishReason": "STOP", "content": map[string]any{"parts": []any{map[string]string{"text": text}}}}},
	}
}

func ollamaReply(text string) any {
	return map[string]any{
		"model": "made-up", "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 1,
		"message": map[string]string{"role": "assistant", "content": text},
	}
}

// vendors are all that the documents name.
type vendors struct {
	recorded map[string][]answered // what a judge once said of a response, and to which question
}

// answer replies to the prompt of a request, in a vendor's form, and refuses a request
// without the header that a key is sent in.
func (v vendors) answer(header, value string, form func(text string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if header != "" && req.Header.Get(header) != value {
			http.Error(w, `{"error": {"message": "no such key", "type": "authentication_error"}}`, http.StatusUnauthorized)
			return
		}
		var body any
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		writeJSON(w, form(v.say(textsIn(body))))
	}
}

// say returns the reply to a prompt.
func (v vendors) say(prompt string) string { return cmp.Or(v.recall(prompt), verdict(prompt)) }

func writeJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// textsIn returns the texts of a request, whichever vendor's form it has.
func textsIn(body any) string {
	var texts []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, part := range v {
				walk(part)
			}
		case map[string]any:
			for _, name := range []string{"system", "systemInstruction", "messages", "contents", "parts", "content", "text"} {
				walk(v[name])
			}
		case string:
			texts = append(texts, v)
		}
	}
	walk(body)
	return strings.Join(texts, "\n")
}

// recall returns what the judge of a published run replied to a prompt of LongMemEval,
// or "" where that is not known.
func (v vendors) recall(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "\nModel Response: ")
	end := strings.LastIndex(rest, "\n\n")
	if end < 0 {
		return ""
	}
	for _, row := range v.recorded[rest[:end]] {
		if strings.Contains(prompt, "\nQuestion: "+row.Question+"\n") {
			return row.JudgeRaw
		}
	}
	return ""
}

// verdict says yes to three prompts of four, in the words that the prompt asks for.
func verdict(prompt string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(prompt))
	yes := h.Sum32()%4 > 0
	for _, words := range [][3]string{
		{"relevance", `{"reasoning": "As it should be.", "correctness": 9, "relevance": 9}`, `{"reasoning": "Another day.", "correctness": 2, "relevance": 9}`},
		{"CORRECT or WRONG", `{"reason": "As it should be.", "label": "CORRECT"}`, `{"reason": "Another day.", "label": "WRONG"}`},
		{`"verdict": "CORRECT or INCORRECT"`, `{"reason": "As it should be.", "verdict": "CORRECT"}`, `{"reason": "Another day.", "verdict": "INCORRECT"}`},
		{"INCORRECT", "CORRECT", "INCORRECT"},
		{"then the label, SAME", `{"why": "As it should be.", "label": "SAME"}`, `{"why": "Another day.", "label": "DIFFERENT"}`},
		{"DIFFERENT", "SAME", "DIFFERENT"},
		{"VERDICT: SECOND", "VERDICT: FIRST", "VERDICT: SECOND"},
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
