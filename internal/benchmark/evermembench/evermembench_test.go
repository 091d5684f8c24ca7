package evermembench_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/benchmark/evermembench"
	"deem/judge"
)

// cloned returns a folder with the prompts, in the layout of the repository.
func cloned(t *testing.T) (dir string, prompts map[string]string) {
	t.Helper()
	prompts = map[string]string{}
	file := "llm_judge:\n"
	for key, name := range map[string]string{"system": "llm_judge_system.txt", "user": "llm_judge_user.fmt.txt"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "field", "evermembench", "prompts", name))
		if err != nil {
			t.Skipf("the published file is not here: %v", err)
		}
		prompts[key] = string(data)
		file += "  " + key + "_prompt: |\n    " + strings.ReplaceAll(strings.TrimSuffix(string(data), "\n"), "\n", "\n    ") + "\n"
	}
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "eval", "config"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "eval", "config", "prompts.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, prompts
}

// TestPrompts checks that the prompts are read from a clone, byte for byte, and that others
// are rejected.
func TestPrompts(t *testing.T) {
	dir, want := cloned(t)
	prompts, err := evermembench.Prompts(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if prompts[name] != want[name] {
			t.Errorf("the prompt %s is not the published one:\n%s", name, prompts[name])
		}
	}
	path := filepath.Join(dir, "eval", "config", "prompts.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), "generous", "strict", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := evermembench.Prompts(dir); err == nil || !strings.Contains(err.Error(), "the prompt llm_judge.user_prompt has the SHA-256") {
		t.Errorf("another prompt: %v", err)
	}
}

// TestProtocol checks that multiple-choice questions are decided by rule and that a model
// is asked about open ones.
func TestProtocol(t *testing.T) {
	prompts := map[string]string{"system": "S", "user": "{question}|{golden_answer}|{generated_answer}|{{}}"}
	p, err := evermembench.Protocol("", prompts)
	if err != nil {
		t.Fatal(err)
	}
	choice := deem.Item{ID: "1", Category: "multiple_choice", Question: "Q", References: []string{"B"}, Response: "B", Fields: map[string]string{"options": `["x", "y"]`}}
	if v, ok := p.Decide(choice); !ok || v.Score != 1 {
		t.Errorf("a choice: %+v, %v", v, ok)
	}
	choice.Response = "none"
	if _, ok := p.Decide(choice); ok {
		t.Error("a response without an option is decided")
	}
	if _, err := p.Request(choice); !isFailure(err) {
		t.Errorf("a response without an option: %v, want a failure", err)
	}
	req, err := p.Request(deem.Item{ID: "2", Category: "open_ended", Question: "Q", References: []string{"G"}, Response: "A"})
	if err != nil || req.Messages[1].Content != "Q|G|A|{}" {
		t.Errorf("an open question: %+v, %v", req, err)
	}
	strict, err := evermembench.Protocol("strict", prompts)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ reply, upstream, strict string }{
		{`{"label": "CORRECT"}`, "CORRECT", "CORRECT"},
		{"```json\n{\"label\": \"correct\"}\n```", "CORRECT", "CORRECT"},
		{`Fine. {"label": "WRONG"}`, "WRONG", "-"},
		{`{"label": {"label": "CORRECT"}}`, "CORRECT", "-"},
		{"It is CORRECT", "CORRECT", "-"},
		{"INCORRECT", "CORRECT", "-"}, // as upstream reads it
		{"CORRECT, not WRONG", "WRONG", "-"},
		{"Hm", "WRONG", "-"},
	} {
		for p, want := range map[*evermembench.QA]string{p: tt.upstream, strict: tt.strict} {
			v, err := judge.Read(p, deem.Item{Category: "open_ended"}, deem.Reply{Text: tt.reply, Stop: deem.StopEnd})
			got := v.Label
			if isFailure(err) {
				got = "-"
			}
			if got != want {
				t.Errorf("%s: %q is %s (%v), want %s", p.Reading(), tt.reply, got, err, want)
			}
		}
	}
}

func isFailure(err error) bool {
	_, ok := errors.AsType[*deem.Failure](err)
	return ok
}
