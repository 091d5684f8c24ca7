package wire_test

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"deem"
	"deem/internal/wire"
)

// A proxy forwards calls, plain ones and tunnels, if the password is correct.
type proxy struct {
	*httptest.Server
	password       string
	refusal        int // the status of all answers; 0 means none
	plain, tunnels atomic.Int64
}

// newProxy starts a proxy for the duration of the test.
func newProxy(t *testing.T, password string) *proxy {
	t.Helper()
	p := &proxy{password: password}
	p.Server = serve(t, p.serve)
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+p.password))
	switch {
	case p.refusal != 0:
		http.Error(w, "not today", p.refusal)
	case p.password != "" && r.Header.Get("Proxy-Authorization") != want:
		http.Error(w, "who are you?", http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnels.Add(1)
		tunnel(w, r.Host)
	default:
		p.plain.Add(1)
		forward(w, r)
	}
}

// forward forwards a plain call.
func forward(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close() //nolint:errcheck // A test.
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// tunnel connects the caller to a host until either side closes.
func tunnel(w http.ResponseWriter, host string) {
	far, err := net.Dial("tcp", host) //nolint:noctx // A test.
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	both.Go(func() { pass(far, near) })
	both.Go(func() { pass(near, far) })
	both.Wait()
}

// hello answers every call with the same text.
func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// serveTLS starts a TLS server with a private certificate authority, and returns the
// authority's file.
func serveTLS(t *testing.T) (s *httptest.Server, caFile string) {
	t.Helper()
	s = httptest.NewUnstartedServer(http.HandlerFunc(hello))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, caFile
}

// call makes one call with the options.
func call(t *testing.T, url string, o wire.Options) (string, error) {
	t.Helper()
	o.Base = base(t, url)
	c := open(t, o)
	defer c.Close() //nolint:errcheck // A tunnel must end before its proxy.
	a, err := c.Post(t.Context(), o.Base.To("/call"), []byte("{}"))
	return string(a.Text), err
}

func TestProxyPlain(t *testing.T) {
	s, p := serve(t, hello), newProxy(t, "s3cr3t-0123")
	text, err := call(t, s.URL, wire.Options{Proxy: strings.Replace(p.URL, "http://", "http://user:s3cr3t-0123@", 1)})
	if err != nil || text != "hello" || p.plain.Load() != 1 {
		t.Errorf("answer %q, error %v, %d calls by the proxy, want 1", text, err, p.plain.Load())
	}
}

func TestProxyTunnel(t *testing.T) {
	s, ca := serveTLS(t)
	p := newProxy(t, "s3cr3t-0123")
	text, err := call(t, s.URL, wire.Options{Proxy: strings.Replace(p.URL, "http://", "http://user:s3cr3t-0123@", 1), CAFile: ca})
	if err != nil || text != "hello" || p.tunnels.Load() != 1 {
		t.Errorf("answer %q, error %v, %d tunnels, want 1", text, err, p.tunnels.Load())
	}
}

// TestProxyFromEnvironment checks that the environment is used if no proxy is configured.
// The standard library reads it once per process and excludes this machine, so another
// process calls a host that only the proxy knows.
func TestProxyFromEnvironment(t *testing.T) {
	if os.Getenv("DEEM_TEST_CHILD") != "" {
		text, err := call(t, "http://deem.invalid", wire.Options{})
		if err != nil || text != "hello" {
			t.Errorf("answer %q, error %v, want hello", text, err)
		}
		return
	}
	var asked atomic.Value
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		hello(w, r)
	})
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyFromEnvironment$") //nolint:gosec // It is this program.
	child.Env = append(os.Environ(), "DEEM_TEST_CHILD=1", "HTTP_PROXY="+p.URL, "http_proxy=", "NO_PROXY=", "no_proxy=")
	if output, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, output)
	}
	if asked.Load() != "http://deem.invalid/call" {
		t.Errorf("the proxy was asked for %v, want http://deem.invalid/call", asked.Load())
	}
}

// TestProxyTrouble makes the proxy refuse, as a tunnel and plainly.
func TestProxyTrouble(t *testing.T) {
	secure, ca := serveTLS(t)
	plain := serve(t, hello)
	dead := newProxy(t, "")
	dead.Close()
	tests := []struct {
		name           string
		refusal        int
		url            string
		proxy          *proxy
		passing, fatal bool
		hint           string
	}{
		{"no password", 0, secure.URL, newProxy(t, "s3cr3t-0123"), false, true, "wants a user and a password"},
		{"no password, plain", 0, plain.URL, newProxy(t, "s3cr3t-0123"), false, true, "wants a user and a password"},
		{"forbidden", 403, secure.URL, newProxy(t, ""), false, true, "NO_PROXY"},
		{"bad gateway", 502, secure.URL, newProxy(t, ""), true, false, "NO_PROXY"},
		{"busy", 429, secure.URL, newProxy(t, ""), true, false, "NO_PROXY"},
		{"dead", 0, secure.URL, dead, true, false, "go through a proxy"},
	}
	for _, tt := range tests {
		tt.proxy.refusal = tt.refusal
		_, err := callOrStatus(t, tt.url, wire.Options{Proxy: strings.Replace(tt.proxy.URL, "http://", "http://user:wr0ng-0123@", 1), CAFile: ca})
		me, ok := errors.AsType[*deem.ModelError](err)
		if !ok || me.Passing != tt.passing || me.Fatal != tt.fatal || !strings.Contains(deem.HintOf(err), tt.hint) {
			t.Errorf("%s: error %#v %v with hint %q, want passing %v, fatal %v, hint %q", tt.name, me, err, deem.HintOf(err), tt.passing, tt.fatal, tt.hint)
		}
		if strings.Contains(fmt.Sprint(err)+deem.HintOf(err), "wr0ng") {
			t.Errorf("%s: the password is in %v", tt.name, err)
		}
	}
}

// callOrStatus makes one call, and converts an error status to an error.
func callOrStatus(t *testing.T, url string, o wire.Options) (string, error) {
	t.Helper()
	o.Base = base(t, url)
	c := open(t, o)
	defer c.Close() //nolint:errcheck // A tunnel must end before its proxy.
	a, err := c.Post(t.Context(), o.Base.To("/call"), []byte("{}"))
	if err == nil && !a.OK() {
		err = c.StatusError(a)
	}
	return string(a.Text), err
}

func TestCAFile(t *testing.T) {
	s, ca := serveTLS(t)
	if text, err := call(t, s.URL, wire.Options{CAFile: ca}); err != nil || text != "hello" {
		t.Errorf("answer %q, error %v, want hello", text, err)
	}
	_, err := call(t, s.URL, wire.Options{})
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Fatal || !strings.Contains(deem.HintOf(err), "certificate") {
		t.Errorf("without the authority: error %v with hint %q, want a fatal one about the certificate", err, deem.HintOf(err))
	}
}

// TestHTTP2 checks that HTTP/2 is used with a TLS server that supports it.
func TestHTTP2(t *testing.T) {
	var proto atomic.Value
	s, ca := serveTLS(t)
	s.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { proto.Store(r.Proto) })
	if _, err := call(t, s.URL, wire.Options{CAFile: ca}); err != nil || proto.Load() != "HTTP/2.0" {
		t.Errorf("protocol %v, error %v, want HTTP/2.0", proto.Load(), err)
	}
}
