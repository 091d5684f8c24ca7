package ci_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// startServer starts a server in a folder of its own, and returns the folder and where
// the server is.
func startServer(t *testing.T, args ...string) (dir, at string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for at == "" && lines.Scan() {
		at = address.FindString(lines.Text())
	}
	drained := make(chan struct{})
	go func() { // The server must never wait for a reader of its log.
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	if at == "" {
		t.Fatal("the server prints no address")
	}
	return dir, at
}

// clients are the examples that call the API.
var clients = [][]string{
	{"python3", filepath.Join(root, "examples", "api", "judge.py")},
	{"node", filepath.Join(root, "examples", "api", "judge.mjs")},
}

// TestAPI runs the examples in Python and JavaScript as a reader would, and the commands
// of the document.
func TestAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run starts no clients")
	}
	t.Run("judged", judgedExamples)
	t.Run("refused", refusedExamples)
}

func judgedExamples(t *testing.T) {
	t.Helper()
	dir, address := startServer(t)
	doc := read(t, "docs/api.md")
	_, want, _ := strings.Cut(doc, "<!-- output -->\n```text\n")
	want, _, _ = strings.Cut(want, "```")
	want = want[:len(want)/2] // the document shows what both print, one after the other
	for _, c := range clients {
		out, err := exec.CommandContext(t.Context(), c[0], c[1], address).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s prints, error %v,\n%swant\n%s", strings.Join(c, " "), err, out, want)
		}
	}
	answers := []byte(`{"id": "a", "references": ["7"], "response": "It is 7."}` + "\n")
	if err := os.WriteFile(filepath.Join(dir, "answers.jsonl"), answers, 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range regexp.MustCompile("(?s)```sh\n(curl .*?)```").FindAllStringSubmatch(doc, -1) {
		if strings.Contains(m[1], "Bearer") {
			continue
		}
		script := strings.ReplaceAll(m[1], "http://127.0.0.1:8080", address)
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(script, "curl -s", "curl -f -S -s"))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(`"(id|gates)":`).Match(out) {
			t.Errorf("%s\nprints, error %v,\n%s", m[1], err, out)
		}
		n++
	}
	if rows, err := os.ReadFile(filepath.Join(dir, "verdicts.csv")); n < 3 || err != nil || !strings.Contains(string(rows), "It is 7.") {
		t.Errorf("%d commands were run, and verdicts.csv is %.200s, error %v", n, rows, err)
	}
	checkOperations(t, doc, address)
}

// checkOperations looks whether the document tells of every operation that the server
// has, and of no other.
func checkOperations(t *testing.T, doc, address string) {
	t.Helper()
	resp, err := http.Get(address + "/api/v1/openapi.json") //nolint:noctx // The server is ours.
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var api struct{ Paths map[string]any }
	if err := json.NewDecoder(resp.Body).Decode(&api); err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`/[a-z]+[a-z{}/.]*`).FindAllString(doc, -1)
	for path := range api.Paths {
		short := strings.TrimPrefix(path, "/api/v1")
		if !slices.Contains(told, short) && !slices.Contains(told, path) {
			t.Errorf("docs/api.md does not tell of %s", path)
		}
	}
}

// refusedExamples looks whether the examples say why they are refused.
func refusedExamples(t *testing.T) {
	t.Helper()
	_, address := startServer(t, "--read-only", "--db", database(t))
	for _, c := range clients {
		out, err := exec.CommandContext(t.Context(), c[0], c[1], address).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "Forbidden: this server is read-only (start it without --read-only: deem serve)") {
			t.Errorf("%s prints, error %v,\n%s", strings.Join(c, " "), err, out)
		}
	}
}

// database returns a database with a run.
func database(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, data := filepath.Join(dir, "deem.db"), filepath.Join(dir, "items.jsonl")
	if err := os.WriteFile(data, []byte(`{"references": ["7"], "response": "7"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), binary, "run", "--db", db, "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return db
}
