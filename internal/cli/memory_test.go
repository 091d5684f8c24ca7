//go:build linux && !race

package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// base is the memory of the command without long texts, plus a margin.
const base = 65 << 20

// TestMemoryOfLongReplies judges items, eight at a time, with a server whose replies are
// long.
func TestMemoryOfLongReplies(t *testing.T) {
	notQuick(t)
	memoryOfReplies(t, 6_000_000, 8, base+5*8*6_000_000)
}

// memoryOfReplies judges items, eight at a time, with a server whose replies have the given
// size, and checks that the command uses at most most bytes of memory. Without
// --model-option such replies are rejected.
func memoryOfReplies(t *testing.T, size, items int, most int64) {
	t.Helper()
	line := strings.Repeat("The response names the harbour of the reference, as it should. ", 16) + `\n`
	text := strings.Repeat(line, size/len(line)) + "VERDICT: CORRECT"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"model":"m","choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, text)
	}))
	defer server.Close()
	var rows strings.Builder
	for i := range items {
		fmt.Fprintf(&rows, `{"id":"q%d","question":"Where?","references":["Lisbon"],"response":"The harbour of Lisbon, number %d."}`+"\n", i, i)
	}
	for name, c := range map[string]struct {
		options []string
		exit    int
		most    int64
	}{
		"bound raised":  {[]string{"--model-option", "max-reply=67108864"}, 0, most},
		"default bound": {nil, 3, base + 2*int64(size)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "items.jsonl"), []byte(rows.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startMeasured(t, dir, append([]string{
				"run", "--data", "items.jsonl", "--judge", "grade",
				"--model", "openai:m", "--base-url", server.URL, "-j", "8", "--retries", "0", "--timeout", "10m",
			}, c.options...)...)
			if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != c.exit {
				t.Fatalf("%v, want exit status %d:\n%s", err, c.exit, p.err.String())
			}
			peakOf(t, p, c.most)
		})
	}
}

// startMeasured starts the command for [peakOf].
func startMeasured(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startWith(t, dir, []string{"OPENAI_API_KEY=sk-test-0123456789abcdef", peakVariable + "=" + filepath.Join(dir, "peak")}, args...)
}

// peakOf checks that a finished process used at most most bytes of memory.
func peakOf(t *testing.T, p *process, most int64) {
	t.Helper()
	status, err := os.ReadFile(filepath.Join(p.cmd.Dir, "peak"))
	if err != nil {
		t.Fatal(err)
	}
	var peak int64
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &peak); err != nil {
		t.Fatalf("the status of the process has no VmHWM: %v", err)
	}
	peak <<= 10
	t.Logf("peak %d MB of at most %d, %.1f s of CPU", peak/1e6, most/1e6, (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds())
	if peak > most {
		t.Errorf("the command took %d MB, want at most %d", peak/1e6, most/1e6)
	}
}

// TestMemoryOfLongResponse checks that a rule judges a response of 30 MB with 8 bytes of
// memory per byte.
func TestMemoryOfLongResponse(t *testing.T) {
	notQuick(t)
	const size = 30_000_000
	for name, words := range map[string]string{
		"ASCII":   "The response names the harbour of the reference, in 1998, as it should. ",
		"Unicode": "Das Café „Größe“ fasst 5 m², ½ ｗｉｄｅ, 港は一つだけ。 ",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.Repeat(words, size/len(words))
			row := fmt.Sprintf(`{"id":"q","question":"Where?","references":["Lisbon"],"response":"%s"}`+"\n", text)
			if err := os.WriteFile(filepath.Join(dir, "items.jsonl"), []byte(row), 0o600); err != nil {
				t.Fatal(err)
			}
			p := startMeasured(t, dir, "run", "--data", "items.jsonl", "--judge", "match")
			if code := p.wait(t); code != 0 && code != 3 {
				t.Fatalf("exit status %d:\n%s", code, p.err.String())
			}
			peakOf(t, p, base+8*size)
		})
	}
}
