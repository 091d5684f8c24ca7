package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/server"
	"deem/internal/test/storetest"
)

func serveOnce(s *server.Server, req *http.Request) *httptest.ResponseRecorder {
	if req.RemoteAddr == "" {
		req.RemoteAddr = "192.0.2.1:1234"
	}
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, req)
	return rec
}

// started starts a server and returns its address and a function that stops it.
func started(t *testing.T, o server.Options) (addr string, stop func() error) {
	t.Helper()
	s := newServer(t, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(func() { cancel() })
	return "http://" + l.Addr().String(), stop
}

// An event is a server-sent event.
type event struct {
	name string
	data map[string]any
}

// follow returns the events of a run until the end of the test.
func follow(t *testing.T, addr, run string) <-chan event {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, addr+"/runs/"+run+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("the stream is %s", got)
	}
	return readEvents(t, bufio.NewScanner(resp.Body))
}

// readEvents sends the events of a stream to a channel.
func readEvents(t *testing.T, body *bufio.Scanner) <-chan event {
	t.Helper()
	events := make(chan event, 100)
	go func() {
		defer close(events)
		var e event
		for body.Scan() {
			line := body.Text()
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if json.Unmarshal([]byte(data), &e.data) != nil {
					return
				}
				events <- e
				e = event{}
			}
		}
		if err := body.Err(); err != nil && t.Context().Err() == nil {
			t.Errorf("the stream was cut off: %v", err)
		}
	}()
	return events
}

// A page receives the progress of a run that another process writes, until the run is done.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	addr, stop := started(t, server.Options{Store: w.store})
	events := follow(t, addr, w.going.ID)
	if e := <-events; e.name != "progress" || e.data["records"] != 0.0 || e.data["wanted"] != 40.0 {
		t.Errorf("the first event is %v, want progress 0 of 40", e)
	}
	if err := w.store.Append(t.Context(), w.going.ID, []deem.Record{storetest.Record(1), storetest.Failed(2, deem.Empty)}); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.name != "progress" || e.data["records"] != 2.0 || e.data["unjudged"] != 1.0 || e.data["rate"] == 0.0 {
		t.Errorf("the second event is %v, want progress 2 of 40 with a rate", e)
	}
	if err := w.store.Finish(t.Context(), w.going.ID); err != nil {
		t.Fatal(err)
	}
	var last event
	for e := range events {
		last = e
	}
	if last.name != "done" {
		t.Errorf("the last event is %v, want done", last)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// Stopping a server ends the event streams, which would otherwise never end.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	addr, stop := started(t, server.Options{Store: w.store})
	events := follow(t, addr, w.going.ID)
	<-events
	if err := stop(); err != nil {
		t.Errorf("Serve = %v", err)
	}
	for range events { // If the server closed the connection instead, the stream would be cut off.
	}
}

func TestServeDemandsToken(t *testing.T) {
	t.Parallel()
	s, err := server.New(server.Options{Store: openStore(t)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); !errors.Is(err, server.ErrNoToken) {
		t.Errorf("Serve on all addresses without a token = %v, want ErrNoToken", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open: %v", err)
	}
}

func TestNoStore(t *testing.T) {
	t.Parallel()
	if _, err := server.New(server.Options{}); err == nil {
		t.Error("New without a store gives no error")
	}
}

// TestLogoutEndsStreams logs out while a page watches a run.
func TestLogoutEndsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := newServer(t, server.Options{Store: w.store, Token: token})
	in := do(t, h, http.MethodPost, "/login", form("csrf", csrfOf(t, h), "token", token, "next", "/"), "Content-Type", formType)
	c := in.Result().Cookies()[0]
	cookie := c.Name + "=" + c.Value
	over := make(chan struct{})
	go func() {
		defer close(over)
		get(t, h, "/runs/"+w.going.ID+"/events", "Cookie", cookie)
	}()
	select {
	case <-over:
		t.Fatal("the stream ended before the logout")
	case <-time.After(1500 * time.Millisecond):
	}
	do(t, h, http.MethodPost, "/logout", form("csrf", csrfOf(t, h, "Cookie", cookie)), "Content-Type", formType, "Cookie", cookie)
	select {
	case <-over:
	case <-time.After(patience):
		t.Errorf("the stream is still open %v after the logout", patience)
	}
}
