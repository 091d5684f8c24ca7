package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If a server repeats the headers of a request in a reply, the key must not get into
// anything that is stored or printed.
func TestEchoedKeyIsNotKept(t *testing.T) {
	const key = "sk-echo-0123456789-never-to-be-kept"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "m " + r.Header.Get("Authorization"), "system_fingerprint": r.Header.Get("Authorization"),
			"choices": []any{map[string]any{
				"message": map[string]any{"content": "headers: " + r.Header.Get("Authorization") + "\n\nAnswer: CORRECT"}, "finish_reason": "stop",
			}},
			"usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 5},
		})
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	t.Setenv("OPENAI_API_KEY", key)
	if err := os.WriteFile("items.jsonl", []byte(`{"id":"q1","question":"How long?","references":["18 days"],"response":"18 days."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, args := range [][]string{
		{"run", "--data", "items.jsonl", "--judge", "universal", "--reading", "strict", "--model", "openai:m", "--base-url", server.URL, "--record", "replies.jsonl", "--log", "events.log", "--log-level", "debug"},
		{"show", "q1"},
		{"show", "q1", "--json"},
		{"export", "last", "-o", "records.jsonl"},
		{"export", "last", "-o", "run.deem"},
		{"report", "run.deem"},
		{"show", "q1", "--run", "run.deem", "--json"}, // A bundle is compressed.
	} {
		stdout, stderr := deemIn(t, 0, args...)
		out.WriteString(stdout + stderr)
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Errorf("deem show does not show the reply:\n%s", out.String())
	}
	texts := map[string]string{"what was printed": out.String()}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if strings.Contains(text, key) {
			t.Errorf("the key is in %s", name)
		}
	}
}
