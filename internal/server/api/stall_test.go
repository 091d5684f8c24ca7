package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deem/internal/server"
	"deem/internal/store"
)

// noRuns is a database without runs. Its other methods are not implemented.
type noRuns struct{ store.Database }

func (noRuns) Runs(context.Context) iter.Seq2[store.Run, error] {
	return func(func(store.Run, error) bool) {}
}

// A pipeListener accepts connections without a network, so that stalled connections use the
// fake clock of the test.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// A body that arrives byte by byte, or not at all, is rejected with status 408.
func TestStalledBody(t *testing.T) {
	for name, pace := range map[string]time.Duration{"a byte in 50 s": 50 * time.Second, "nothing": 24 * time.Hour} {
		for _, media := range []string{"application/json", ndjson} {
			t.Run(name+" of "+media, func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) { stall(t, dir, media, pace) })
			})
		}
	}
}

// stall sends the beginning of a body, and then one byte per pace.
func stall(t *testing.T, dir, media string, pace time.Duration) {
	s, err := server.New(server.Options{Store: &noRuns{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(s, Options{Spool: dir}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	l := &pipeListener{conns: make(chan net.Conn, 1)}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	client, conn := net.Pipe()
	l.conns <- conn
	begun := time.Now()
	go func() {
		_, err := fmt.Fprintf(client, "POST /api/v1/verdicts HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 100000\r\n\r\n{", media)
		for err == nil && time.Since(begun) < time.Hour {
			time.Sleep(pace)
			_, err = client.Write([]byte(" "))
		}
	}()
	_ = client.SetReadDeadline(begun.Add(time.Hour))
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Errorf("after %v: %v, want an answer", time.Since(begun), err)
	} else {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if took := time.Since(begun); resp.StatusCode != http.StatusRequestTimeout || took > 2*time.Minute {
			t.Errorf("status %d after %v, want 408 within two minutes", resp.StatusCode, took)
		}
	}
	_ = client.Close()
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	time.Sleep(48 * time.Hour) // until the sending goroutine ends
}
