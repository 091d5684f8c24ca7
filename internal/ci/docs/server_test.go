package docs_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"deem/internal/ci/docs"
)

var fixedPort = regexp.MustCompile(`--listen 127\.0\.0\.1:\d+`)

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)

// serve starts a server as a block says, looks at its first page, and stops it as Ctrl-C
// would. Its port is any free one, since the usual one may be taken.
func (r *reader) serve(t *testing.T, name string, b docs.Block) {
	t.Helper()
	script := strings.TrimSpace(b.Text)
	script = fixedPort.ReplaceAllString(script, "--listen 127.0.0.1:0")
	if !strings.Contains(script, "--listen") {
		script += " --listen 127.0.0.1:0"
	}
	cmd := r.shell(t, "exec "+script)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := ""
	lines := bufio.NewScanner(stderr)
	for at == "" && lines.Scan() {
		at = address.FindString(lines.Text())
	}
	if at == "" {
		t.Errorf("%s:%d: the server prints no address", name, b.Line)
	} else {
		look(t, at)
	}
	_ = cmd.Process.Signal(os.Interrupt) // fails when it is gone, which Wait says
	_, _ = io.Copy(io.Discard, stderr)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s:%d: %v when it is stopped, want status 0", name, b.Line, err)
	}
}

// look fetches a page.
func look(t *testing.T, at string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if page, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "<html") {
		t.Errorf("GET %s gives status %d, %d bytes, error %v, want a page", at, resp.StatusCode, len(page), err)
	}
}
