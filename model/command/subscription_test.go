//go:build unix

package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/model/command"
)

// standIn puts a program with the name of a vendor's first in PATH. It keeps its arguments,
// its input and what it finds in its folder, and then does what the script says.
func standIn(t *testing.T, name, script string) (kept string) {
	t.Helper()
	dir := t.TempDir()
	program := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + dir + "/args\ncat > " + dir + "/input\nls -A > " + dir + "/folder\nenv > " + dir + "/env\n" + script
	if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func keptBy(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	claudeSays = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"It is.\nVERDICT: CORRECT","session_id":"s1","total_cost_usd":0.01,` +
		`"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":3,"output_tokens":7},"modelUsage":{"claude-opus-x":{}}}`
	codexSays = `{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"thinking"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"VERDICT: CORRECT"}}
{"type":"turn.completed","usage":{"input_tokens":18,"cached_input_tokens":3,"output_tokens":7}}`
	geminiSays = `{"session_id":"g1","response":"VERDICT: CORRECT","stats":{"models":{"gemini-x-pro":{"api":{"totalRequests":1},"tokens":{"prompt":18,"candidates":5,"total":25,"cached":3,"thoughts":2,"tool":0}}},"tools":{"totalCalls":0}}}`
)

func TestSubscription(t *testing.T) {
	for _, tt := range []struct {
		program, model, says, id string
		args                     string
	}{
		{"claude", "claude-opus-x", claudeSays, "s1", "-p --output-format json --tools  --strict-mcp-config --no-session-persistence --system-prompt You judge. --model big"},
		{"codex", "", codexSays, "t1", "exec --json --ephemeral --sandbox read-only --skip-git-repo-check --model big -"},
		{"gemini", "gemini-x-pro", geminiSays, "g1", "--output-format json --approval-mode default --extensions none --model big"},
	} {
		t.Run(tt.program, func(t *testing.T) {
			t.Setenv("ANTHROPIC_API_KEY", "paid")
			t.Setenv("OPENAI_API_KEY", "paid")
			t.Setenv("GEMINI_API_KEY", "paid")
			dir := standIn(t, tt.program, "cat <<'END'\n"+tt.says+"\nEND\n")
			m, err := command.Subscribe(tt.program+":big", command.Options{}, false)
			if err != nil {
				t.Fatal(err)
			}
			half := 0.5
			reply, err := m.Complete(t.Context(), deem.Request{
				Messages:    []deem.Message{{Role: "system", Content: "You judge."}, {Role: "user", Content: "Is it so?"}},
				Temperature: &half, MaxTokens: 9,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(reply.Text, "VERDICT: CORRECT") || reply.Model != tt.model || reply.RequestID != tt.id || m.Name() != "cli:"+tt.program+":big" {
				t.Errorf("%s replies %+v", m.Name(), reply)
			}
			if u := reply.Usage; u.Input != 18 || u.Output != 7 || u.CachedInput != 3 {
				t.Errorf("usage %+v, want 18 in, 7 out, 3 cached", u)
			}
			if !strings.Contains(reply.Dropped, "temperature=") || !strings.Contains(reply.Dropped, "max_tokens=") || strings.Contains(reply.Dropped, "seed") {
				t.Errorf("dropped %q", reply.Dropped)
			}
			if got := strings.ReplaceAll(strings.TrimSpace(keptBy(t, dir, "args")), "\n", " "); got != tt.args {
				t.Errorf("arguments %q, want %q", got, tt.args)
			}
			if got := keptBy(t, dir, "input"); !strings.HasSuffix(got, "Is it so?") || strings.Contains(got, "You judge.") == (tt.program == "claude") {
				t.Errorf("input %q", got)
			}
			if got := keptBy(t, dir, "folder"); got != "" {
				t.Errorf("the folder is not empty: %q", got)
			}
			own := map[string]string{"claude": "ANTHROPIC_API_KEY", "codex": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY"}[tt.program]
			if strings.Contains(keptBy(t, dir, "env"), own) {
				t.Errorf("%s is in the environment, so the API is paid and not the subscription", own)
			}
		})
	}
}

// Each failure has its type: what stops the run, what is tried again, and what ends one item.
func TestSubscriptionFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		program, script string
		kind            deem.Kind
		fatal, passing  bool
		says            string
	}{
		"not logged in": {"claude", `echo '{"type":"result","is_error":true,"result":"Invalid API key · Please run /login"}'; exit 1`, deem.Provider, true, false, "not logged in"},
		"no auth":       {"gemini", `echo 'Please set an Auth method in your settings' >&2; exit 41`, deem.Provider, true, false, "not logged in"},
		"codex login":   {"codex", `echo '{"type":"error","message":"unexpected status 401 Unauthorized"}'; exit 1`, deem.Provider, true, false, "not logged in"},
		"used up":       {"codex", `echo '{"type":"turn.failed","error":{"message":"You have hit your usage limit. Try again at 5 PM."}}'; exit 1`, deem.Provider, true, false, "used up"},
		"too fast":      {"gemini", `echo '{"error":{"type":"ApiError","message":"RESOURCE_EXHAUSTED: too many requests","code":429}}'; exit 1`, deem.Provider, false, true, "asks to wait"},
		"timeout":       {"claude", "sleep 60", deem.Timeout, false, true, "no reply within"},
		"bad output":    {"claude", "echo Hello", deem.Provider, false, false, "cannot be read"},
		"no reply":      {"codex", `echo '{"type":"turn.completed","usage":{}}'`, deem.Provider, false, false, "no agent_message"},
		"a tool":        {"codex", `echo '{"type":"item.completed","item":{"type":"command_execution","command":"ls"}}'`, deem.Provider, false, false, "used a tool"},
		"more turns":    {"claude", `echo '{"type":"result","num_turns":3,"result":"x"}'`, deem.Provider, false, false, "used a tool"},
		"tool calls":    {"gemini", `echo '{"response":"x","stats":{"tools":{"totalCalls":1}}}'`, deem.Provider, false, false, "used a tool"},
		"ended":         {"claude", "echo broken pipe >&2; exit 3", deem.Provider, false, false, "ended with code 3: broken pipe"},
	} {
		t.Run(name, func(t *testing.T) {
			standIn(t, tt.program, tt.script)
			m, err := command.Subscribe(tt.program, command.Options{Timeout: 2 * time.Second}, false)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Complete(t.Context(), deem.Prompt("Is it so?"))
			me, ok := errors.AsType[*deem.ModelError](err)
			if !ok || me.Kind != tt.kind || me.Fatal != tt.fatal || me.Passing != tt.passing || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v (%+v)", err, me)
			}
			if tt.fatal && deem.HintOf(err) == "" {
				t.Errorf("%v has no hint", err)
			}
		})
	}
}

func TestSubscriptionNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := command.Subscribe("codex", command.Options{}, false); err == nil || !strings.Contains(err.Error(), "not installed") || !strings.Contains(deem.HintOf(err), "npm install") {
		t.Errorf("error %v", err)
	}
	if _, err := command.Subscribe("codex", command.Options{}, true); err != nil {
		t.Errorf("without a call: %v", err)
	}
	if _, err := command.Subscribe("other", command.Options{}, true); err == nil {
		t.Error("an unknown program is taken")
	}
}

// One call runs at a time unless more are allowed, and a cancelled call does not wait.
func TestSubscriptionWaits(t *testing.T) {
	standIn(t, "claude", "sleep 60")
	m, err := command.Subscribe("claude", command.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := m.Complete(ctx, deem.Prompt("x"))
			done <- err
		}()
	}
	time.AfterFunc(200*time.Millisecond, cancel)
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	}
}
