package modeltest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
)

// Asked is a request to a server.
type Asked struct {
	Request deem.Request // the fields that the wire format has
	Model   string
	Header  http.Header
	Path    string
	Body    []byte

	// Nth is how many times these messages have come, including this time.
	Nth int
}

// Prompt returns the content of the last user message.
func (a Asked) Prompt() string {
	for _, m := range slices.Backward(a.Request.Messages) {
		if m.Role == "user" {
			return m.Content
		}
	}
	return ""
}

// An Answer is how a server answers a request. The zero value is an empty reply.
type Answer struct {
	Reply deem.Reply // sent in the vendor's format, unless Raw is set
	Raw   *Raw       // sent unchanged

	Delay time.Duration // before the first byte
	Hang  bool          // never answer; ends when the caller goes away or the server closes
	Cut   bool          // break the connection in the middle of the body
}

// Say returns an answer with the given text.
func Say(text string) Answer {
	return Answer{Reply: deem.Reply{Text: text, Stop: deem.StopEnd, Usage: deem.Usage{Input: 10, Output: 2}}}
}

// Fail returns an answer with the given status and body.
func Fail(status int, body string) Answer {
	return Answer{Raw: &Raw{Status: status, Body: body}}
}

// A Server is a local fake of a vendor: it implements a wire format on a loopback address,
// answers as configured, and counts. Its methods are safe for concurrent use.
type Server struct {
	// URL is the base URL to call, without a path.
	URL string

	wire    Wire
	answer  func(Asked) Answer
	http    *httptest.Server
	closing context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	counts   map[string]int // by the hash of the messages
	requests int
	inFlight int
	high     int
	dials    int
}

// NewServer starts an OpenAI-compatible server for the duration of the test. The function
// is called for each request, concurrently; nil answers "yes" to all.
func NewServer(tb testing.TB, answer func(Asked) Answer) *Server {
	tb.Helper()
	s := Serve(OpenAI(), answer)
	tb.Cleanup(s.Close)
	return s
}

// Serve starts a server with the given wire format, until Close.
func Serve(wire Wire, answer func(Asked) Answer) *Server {
	s := &Server{wire: wire, answer: answer}
	s.listen(s.serve)
	return s
}

// listen starts the server with a handler.
func (s *Server) listen(handler http.HandlerFunc) {
	if s.answer == nil {
		s.answer = always(Say("yes"))
	}
	s.counts = make(map[string]int)
	s.closing, s.close = context.WithCancel(context.Background())
	s.http = httptest.NewUnstartedServer(handler)
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.dials++
			s.mu.Unlock()
		}
	}
	s.http.Start()
	s.URL = s.http.URL
}

// Close releases hanging requests and stops the server.
func (s *Server) Close() {
	s.close()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the number of requests.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Counts returns how many times each prompt came, by the hash of its messages.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// HighWater returns the maximum number of concurrent requests.
func (s *Server) HighWater() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.high
}

// Dials returns the number of connections.
func (s *Server) Dials() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller went away
	}
	model, req, err := s.wire.Read(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	hash := deem.Request{Messages: req.Messages}.Hash()
	s.mu.Lock()
	s.requests++
	s.counts[hash]++
	s.inFlight++
	s.high = max(s.high, s.inFlight)
	nth := s.counts[hash]
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	}()
	a := s.answer(Asked{Request: req, Model: model, Header: r.Header, Path: r.URL.Path, Body: body, Nth: nth})
	if s.hold(r.Context(), a) {
		s.send(w, a)
	}
}

// hold waits as configured, and reports whether the caller is still there.
func (s *Server) hold(ctx context.Context, a Answer) bool {
	var due <-chan time.Time
	switch {
	case a.Hang: // due never fires
	case a.Delay > 0:
		t := time.NewTimer(a.Delay)
		defer t.Stop()
		due = t.C
	default:
		return true
	}
	select {
	case <-due:
		return true
	case <-ctx.Done():
		return false
	case <-s.closing.Done():
		return false
	}
}

func (s *Server) send(w http.ResponseWriter, a Answer) {
	raw := s.wire.Reply(a.Reply)
	if a.Raw != nil {
		raw = *a.Raw
	}
	for name, value := range raw.Header {
		w.Header().Set(name, value)
	}
	kind := "text/plain; charset=utf-8"
	switch {
	case json.Valid([]byte(raw.Body)):
		kind = "application/json"
	case strings.HasPrefix(strings.TrimSpace(raw.Body), "<"):
		kind = "text/html; charset=utf-8"
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(cmp.Or(raw.Status, http.StatusOK))
	if a.Cut { // Send half of the body and break the connection.
		_, _ = io.WriteString(w, raw.Body[:len(raw.Body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, raw.Body) // the client may leave early
}
