package ci_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var (
	listen  = regexp.MustCompile(`--listen \d+\.\d+\.\d+\.\d+:\d+`)
	address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
)

// A process is a block that goes on.
type process struct {
	cmd    *exec.Cmd
	stderr io.ReadCloser
	lines  *bufio.Scanner
}

// begin starts a block that goes on. Its port is any free one on this machine, since the
// usual one may be taken.
func (r *reader) begin(t *testing.T, b Block) process {
	t.Helper()
	script := listen.ReplaceAllString(strings.TrimSpace(b.Text), "--listen 127.0.0.1:0")
	if b.Server && !strings.Contains(script, "--listen") {
		script += " --listen 127.0.0.1:0"
	}
	cmd := r.shell("exec " + script)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return process{cmd, stderr, bufio.NewScanner(stderr)}
}

// wait reads what the process says until it says where it is, and looks at the page
// there.
func (p process) wait(t *testing.T, name string, b Block) (at string) {
	t.Helper()
	for at == "" && p.lines.Scan() {
		at = address.FindString(p.lines.Text())
	}
	if at == "" {
		t.Errorf("%s:%d: the server prints no address", name, b.Line)
		return ""
	}
	look(t, at+"/")
	return at
}

// stop ends the process as Ctrl-C would.
func (p process) stop(t *testing.T, name string, b Block) {
	t.Helper()
	_ = p.cmd.Process.Signal(os.Interrupt) // fails when it is gone, which Wait says
	_, _ = io.Copy(io.Discard, p.stderr)
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("%s:%d: %v when it is stopped, want status 0", name, b.Line, err)
	}
}

// serve starts a server as a block says, looks at its first page, and stops it.
func (r *reader) serve(t *testing.T, name string, b Block) {
	t.Helper()
	p := r.begin(t, b)
	p.wait(t, name, b)
	p.stop(t, name, b)
}

// stay starts a block that goes on until the page ends. If it is a server, the blocks
// after it find it where the page says.
func (r *reader) stay(t *testing.T, name string, b Block) {
	t.Helper()
	p := r.begin(t, b)
	if b.Server {
		r.address = p.wait(t, name, b)
	} else if !p.lines.Scan() { // what it says first, it says when it can be stopped
		t.Errorf("%s:%d: it says nothing", name, b.Line)
	}
	read := make(chan struct{})
	go func() { // so that it never waits for a reader of its log
		defer close(read)
		_, _ = io.Copy(io.Discard, p.stderr)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(os.Interrupt)
		<-read
		p.stop(t, name, b)
	})
}

// look fetches a page. A server that demands a token shows where to give it.
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
	page, err := io.ReadAll(resp.Body)
	ok := resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized
	if err != nil || !ok || !strings.Contains(string(page), "<html") {
		t.Errorf("GET %s gives status %d, %d bytes, error %v, want a page", at, resp.StatusCode, len(page), err)
	}
}
