package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deem/internal/store"
	"deem/internal/test/modeltest"
)

// A served process is a running server.
type served struct {
	*process
	url string
}

// startServer starts a server on a free port in dir.
func startServer(t *testing.T, dir string, env []string, args ...string) served {
	t.Helper()
	p := startWith(t, dir, env, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	s := served{process: p}
	if !s.find(t) {
		t.Fatalf("the server does not start:\n%s", p.err.String())
	}
	return s
}

// find waits until the server prints its address, and reports false if it prints an error.
func (s *served) find(t *testing.T) (ok bool) {
	t.Helper()
	until(t, "the server says where it is", func() bool {
		said := s.err.String()
		_, rest, shown := strings.Cut(said, " is shown at ")
		s.url, _, _ = strings.Cut(rest, "/;")
		if before, _, cut := strings.Cut(s.url, "/,"); cut {
			s.url = before
		}
		ok = shown && strings.HasPrefix(s.url, "http://")
		return ok || strings.Contains(said, "deem: error:")
	})
	return ok
}

// ask sends a request and decodes the response.
func (s served) ask(t *testing.T, method, path, body string, headers ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.err.String())
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	_ = json.Unmarshal(text, &got) // Not every response is JSON.
	return resp.StatusCode, got
}

// interrupt sends Ctrl-C and returns the exit code.
func (s served) interrupt(t *testing.T) int {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	return s.wait(t)
}

// TestServe judges over HTTP, which gives an ordinary run.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	s := startServer(t, dir, nil)
	status, got := s.ask(t, "POST", "/api/v1/verdicts", `{"items":[{"references":["18 days"],"response":"It took 18 days."}]}`)
	if status != http.StatusOK {
		t.Fatalf("status %d: %v", status, got)
	}
	if status, _ := s.ask(t, "GET", "/", ""); status != http.StatusOK {
		t.Errorf("GET / = %d", status)
	}
	if status, _ := s.ask(t, "GET", "/metrics", ""); status != http.StatusOK {
		t.Errorf("GET /metrics = %d", status)
	}
	report := run(t, dir, 0, "report", "--json")
	_, over := s.ask(t, "GET", "/api/v1/runs/last/report", "")
	var printed map[string]any
	if err := json.Unmarshal([]byte(report.out.String()), &printed); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(over) != fmt.Sprint(printed) {
		t.Errorf("the server reports\n%v\nand the command\n%v", over, printed)
	}
	if code := s.interrupt(t); code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0:\n%s", code, s.err.String())
	}
}

// TestServeToken requires the token of a file.
func TestServeToken(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, 0, "serve", "--new-token", "deem.token")
	name := filepath.Join(dir, "deem.token")
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the token has the mode %v, error %v, want 0600", info.Mode(), err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(text))
	s := startServer(t, dir, nil, "--token-file", "deem.token", "--log", "events.jsonl", "--log-level", "debug")
	for _, c := range []struct {
		path, auth string
		want       int
	}{
		{"/", "", 401},
		{"/api/v1/runs", "", 401},
		{"/api/v1/runs", "Bearer nonsense", 401},
		{"/api/v1/runs", "Bearer " + token, 200},
		{"/healthz", "", 200},
	} {
		if status, _ := s.ask(t, "GET", c.path, "", "Authorization", c.auth); status != c.want {
			t.Errorf("GET %s with %q = %d, want %d", c.path, strings.ReplaceAll(c.auth, token, "the token"), status, c.want)
		}
	}
	if code := s.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if strings.Contains(s.err.String()+string(log), token) {
		t.Error("the token was told")
	}
}

// TestServeInterrupted stops a server while calls are in flight. Their results are kept, it
// prints how to resume, and resuming judges only what is missing.
func TestServeInterrupted(t *testing.T) {
	dir := t.TempDir()
	gate := make(chan struct{})
	vendor := modeltest.NewServer(t, func(modeltest.Asked) modeltest.Answer {
		<-gate
		return modeltest.Say("CORRECT")
	})
	key := []string{"OPENAI_API_KEY=sk-test-0123456789abcdef"}
	args := []string{"--model", "openai:gpt-4o-mini", "--base-url", vendor.URL, "-j", "2"}
	s := startServer(t, dir, key, args...)
	var items []string
	for i := range 9 {
		items = append(items, fmt.Sprintf(`{"question":"Q","references":["%d"],"response":"%d"}`, i, i))
	}
	status, got := s.ask(t, "POST", "/api/v1/runs", `{"judge":"universal","items":[`+strings.Join(items, ",")+`]}`)
	if status != http.StatusAccepted {
		t.Fatalf("status %d: %v", status, got)
	}
	until(t, "two calls are in flight", func() bool { return vendor.Requests() == 2 })
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	until(t, "the server says that it stops", func() bool { return strings.Contains(s.err.String(), "stopping") })
	close(gate)
	if code := s.wait(t); code != 130 {
		t.Errorf("exit code %d, want 130:\n%s", code, s.err.String())
	}
	said := s.err.String()
	// The run may take one more item between the message and the stop.
	kept := regexp.MustCompile(`[23] of 9 judged and kept`).FindString(said)
	if kept == "" || !strings.Contains(said, "hint: resume with: deem serve") || !strings.Contains(said, "--resume") {
		t.Errorf("it does not say how to go on:\n%s", said)
	}
	if strings.Contains(said, "sk-test") {
		t.Error("the key was told")
	}
	again := startServer(t, dir, key, append(args, "--resume")...)
	until(t, "the run is done", func() bool {
		_, r := again.ask(t, "GET", "/api/v1/runs/last", "")
		return r["state"] == "done"
	})
	if !strings.Contains(again.err.String(), "resumes: "+kept[:min(1, len(kept))]+" of 9 done") {
		t.Errorf("it does not say that it goes on:\n%s", again.err.String())
	}
	if code := again.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if got := vendor.Requests(); got != 9 {
		t.Errorf("the model was asked %d times about 9 items", got)
	}
	for id, n := range records(t, dir) {
		if n != 1 {
			t.Errorf("item %s has %d records", id, n)
		}
	}
}

// TestServeReadOnly only reads, and creates no database.
func TestServeReadOnly(t *testing.T) {
	dir := t.TempDir()
	p := startWith(t, dir, nil, "serve", "--listen", "127.0.0.1:0", "--read-only")
	if code := p.wait(t); code == 0 {
		t.Errorf("a server of a database that is not there ends with %d:\n%s", code, p.err.String())
	}
	writeItems(t, dir, 2, func(i int) string { return fmt.Sprint(i) })
	run(t, dir, 0, "run", "--data", "items.jsonl", "--judge", "exact")
	s := startServer(t, dir, nil, "--read-only")
	if status, _ := s.ask(t, "POST", "/api/v1/verdicts", `{"items":[{"response":"x"}]}`); status != http.StatusForbidden {
		t.Errorf("POST = %d, want 403", status)
	}
	if status, got := s.ask(t, "GET", "/api/v1/runs/last", ""); status != http.StatusOK || got["state"] != string(store.Done) {
		t.Errorf("GET of the run = %d %v", status, got)
	}
	if code := s.interrupt(t); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, s.err.String())
	}
}
