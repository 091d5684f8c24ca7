package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem"
	"deem/internal/wire"
)

// collect reads all lines, and the error that ended them.
func collect(c *wire.Client, path string) (lines []string, err error) {
	for line, e := range c.Lines(context.Background(), c.To(path)) {
		if e != nil {
			return lines, e
		}
		lines = append(lines, string(line))
	}
	return lines, nil
}

// A network is in memory: in a synctest bubble nothing on it takes time except sleeps.
type network struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// onNetwork serves h until the test ends, and returns a client for it.
func onNetwork(t *testing.T, h http.HandlerFunc) *http.Client {
	t.Helper()
	n := &network{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), ReadHeaderTimeout: time.Hour}
	ended := make(chan error)
	go func() { ended <- srv.Serve(n) }()
	transport := &http.Transport{DialContext: n.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		time.Sleep(time.Minute) // A server that aborted a call lingers.
	})
	return &http.Client{Transport: transport}
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case n.conns <- theirs:
		return ours, nil
	case <-n.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (n *network) Close() error {
	n.once.Do(func() { close(n.done) })
	return nil
}

// Addr returns an arbitrary address.
func (n *network) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	bodies := map[string]string{
		"/v1/some":   "{\"a\":1}\n\n  {\"b\":2}\r\n" + long + "\nlast without a newline",
		"/v1/none":   "",
		"/v1/spaces": "\n \n",
	}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" || r.Method != http.MethodGet {
			t.Errorf("%s with the headers %v", r.Method, r.Header)
		}
		_, _ = io.WriteString(w, bodies[r.URL.Path])
	})
	c := open(t, wire.Options{Base: base(t, srv.URL+"/v1"), Key: "k", KeyHeader: "Authorization", KeyPrefix: "Bearer "})
	for path, want := range map[string][]string{
		"/some": {`{"a":1}`, `{"b":2}`, long, "last without a newline"}, "/none": nil, "/spaces": nil,
	} {
		got, err := collect(c, path)
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("Lines(%s) = %d lines, %v, want %d", path, len(got), err, len(want))
		}
	}
	for range c.Lines(t.Context(), c.To("/some")) {
		break // the client may leave early
	}
}

// An error, an answer that breaks off, and a stalled answer are distinguished.
func TestLinesFail(t *testing.T) { synctest.Test(t, testLinesFail) }

func testLinesFail(t *testing.T) {
	stay := make(chan struct{})
	client := onNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"message":"no such file, k-secret"}}`)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "first\nsec")
		case "/still":
			_, _ = io.WriteString(w, "first\n")
			_ = http.NewResponseController(w).Flush()
			<-stay
		}
	})
	defer close(stay)
	c := open(t, wire.Options{Base: base(t, "http://test"), HTTPClient: client, Key: "k-secret", KeyHeader: "Authorization", Timeout: 200 * time.Millisecond})
	for path, want := range map[string]struct {
		lines   int
		status  int
		kind    deem.Kind
		passing bool
	}{
		"/missing": {0, 404, deem.Provider, false},
		"/cut":     {2, 0, deem.Provider, true},
		"/still":   {1, 0, deem.Timeout, true},
	} {
		lines, err := collect(c, path)
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || me.Status != want.status || me.Kind != want.kind || me.Passing != want.passing {
			t.Errorf("%s: %+v, want %+v", path, me, want)
		}
		if len(lines) != want.lines || strings.Contains(fmt.Sprint(err), "k-secret") {
			t.Errorf("%s: %d lines and %v, want %d", path, len(lines), err, want.lines)
		}
	}
}

// A slow caller is not mistaken for a stalled server.
func TestLinesWaitForTheCaller(t *testing.T) { synctest.Test(t, testLinesWaitForTheCaller) }

func testLinesWaitForTheCaller(t *testing.T) {
	client := onNetwork(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "1\n2\n"+strings.Repeat("3", 1<<20)+"\n4\n")
	})
	c := open(t, wire.Options{Base: base(t, "http://test"), HTTPClient: client, Timeout: 100 * time.Millisecond})
	n := 0
	for _, err := range c.Lines(t.Context(), c.To("/")) {
		if err != nil {
			t.Fatalf("after %d lines: %v", n, err)
		}
		n++
		time.Sleep(150 * time.Millisecond)
	}
	if n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
}

// slowly is a slow reader.
type slowly struct{ parts int }

func (s *slowly) Read(p []byte) (int, error) {
	if s.parts--; s.parts < 0 {
		return 0, io.EOF
	}
	time.Sleep(50 * time.Millisecond)
	return copy(p, "0123456789"), nil
}

// A body may take longer than the timeout as long as it makes progress.
func TestSend(t *testing.T) { synctest.Test(t, testSend) }

func testSend(t *testing.T) {
	var got string
	deaf := make(chan struct{})
	defer close(deaf)
	client := onNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/deaf" {
			<-deaf
			return
		}
		body, _ := io.ReadAll(r.Body)
		got = fmt.Sprint(r.Header.Get("Content-Type"), " ", r.ContentLength, " ", len(body), " ", r.URL.RawQuery)
		_, _ = io.WriteString(w, "{}")
	})
	c := open(t, wire.Options{Base: base(t, "http://test?v=1"), HTTPClient: client, Timeout: 200 * time.Millisecond})
	to := c.To("/files").With(url.Values{"after": {"a b"}})
	a, err := c.Send(t.Context(), to, "text/odd", &slowly{parts: 8}, 80)
	if err != nil || !a.OK() || got != "text/odd 80 80 after=a+b&v=1" {
		t.Errorf("Send = %v, %v; the server saw %q", a, err, got)
	}
	_, err = c.Send(t.Context(), c.To("/deaf"), "text/odd", strings.NewReader(strings.Repeat("x", 64<<20)), 64<<20)
	if me, ok := errors.AsType[*deem.ModelError](err); !ok || me.Kind != deem.Timeout || !me.Passing {
		t.Errorf("Send to a server that reads nothing: %v, want a timeout", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Send(ctx, to, "text/odd", &slowly{}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Send with a dead context: %v", err)
	}
}
