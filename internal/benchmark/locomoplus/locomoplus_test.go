package locomoplus_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/locomoplus"
	"deem/judge"
)

func protocol(t *testing.T, reading string) *locomoplus.P {
	t.Helper()
	p, err := locomoplus.Protocol(reading, map[string]string{"Cognitive": "C {evidence}|{pred}", "default": "D {gold}|{pred}|{evidence}|{{}}"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read returns the label of a reply, or the kind of failure, and the score.
func read(t *testing.T, reading, category, reply string) (string, float64) {
	t.Helper()
	v, err := judge.Read(protocol(t, reading), deem.Item{Category: category}, deem.Reply{Text: reply, Stop: deem.StopEnd})
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return string(f.Kind), 0
	}
	return v.Label, v.Score
}

// TestReplies checks where the readings differ.
func TestReplies(t *testing.T) {
	for _, tt := range []struct{ category, reply, strict, upstream string }{
		{"temporal", `{"label": "correct", "reason": "so"}`, "correct", "correct"},
		{"multi-hop", `{"label": "partial", "reason": "half"}`, "partial", "partial"},
		{"temporal", `{"label": "partial", "reason": "half"}`, "unparseable", "partial"},
		{"temporal", "The answer is incorrect.", "unparseable", "correct"},
		{"temporal", `{"label": "wrong", "reason": "not correct`, "unparseable", "correct"},
		{"temporal", `{"label": "incorrect", "reason": "so"}`, "unparseable", "incorrect"},
		{"temporal", "Hm.", "unparseable", "unparseable"},
	} {
		strict, _ := read(t, "", tt.category, tt.reply)
		upstream, _ := read(t, locomoplus.Upstream, tt.category, tt.reply)
		if strict != tt.strict || upstream != tt.upstream {
			t.Errorf("%s: %s and %s, want %s and %s", tt.reply, strict, upstream, tt.strict, tt.upstream)
		}
	}
}

// TestRequest checks that each category has its own prompt.
func TestRequest(t *testing.T) {
	it := deem.Item{Category: "Cognitive", References: []string{"G"}, Response: "P {gold}", Fields: map[string]string{"evidence": "E"}}
	for category, want := range map[string]string{"Cognitive": "C E|P {gold}", "other": "D G|P {gold}|E|{}"} {
		it.Category = category
		req, err := protocol(t, "").Request(it)
		if err != nil || req.Messages[0].Content != want || req.MaxTokens != 512 || *req.Temperature != 0 {
			t.Errorf("%s: %+v, %v, want %s", category, req, err, want)
		}
	}
}

// TestPrompts checks that only the published prompts are accepted.
func TestPrompts(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "evaluation_framework", "task_eval"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "evaluation_framework", "task_eval", "prompt.py"), []byte(`P = """Other."""`), 0o600); err != nil {
		t.Fatal(err)
	}
	for repo, want := range map[string]string{
		"": "needs a clone of github.com/xjtuleeyf/Locomo-Plus", t.TempDir(): "is not a clone", dir: "prompt.py does not have the prompt of commit 059f4e3d",
	} {
		if _, err := locomoplus.Prompts(repo); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(deem.HintOf(err), "--with repo=") {
			t.Errorf("%q: %v, want %s", repo, err, want)
		}
	}
}

// TestVectors compares the upstream reading with upstream's program.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "longcontext", "locomoplus.json"))
	if err != nil {
		t.Skipf("the vectors are not here: %v", err)
	}
	var vectors struct {
		Vectors []struct {
			Raw, Label string
			Score      float64
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Vectors) != 68 {
		t.Fatalf("%d vectors, want 68", len(vectors.Vectors))
	}
	for _, v := range vectors.Vectors {
		label, score := read(t, locomoplus.Upstream, "default", v.Raw)
		if want := strings.ToLower(strings.TrimSpace(v.Label)); score != v.Score || want != "" && label != want {
			t.Errorf("%q: %s %v, want %s %v", v.Raw, label, score, want, v.Score)
		}
		if failures := []string{"unparseable", "empty", "refused"}; v.Label == "" && !slices.Contains(failures, label) {
			t.Errorf("%q: %s, want a failure, which counts as 0", v.Raw, label)
		}
	}
}
