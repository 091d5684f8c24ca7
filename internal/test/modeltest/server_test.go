package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"deem"
	"deem/internal/test/modeltest"
	"deem/model/openai"
)

// open returns a client of the server.
func open(t *testing.T, s *modeltest.Server) deem.Model {
	t.Helper()
	m, err := openai.New(openai.Options{Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() { _ = m.(io.Closer).Close() })
	return m
}

func TestServerCounts(t *testing.T) {
	const workers = 8
	var together sync.WaitGroup
	together.Add(workers)
	s := modeltest.NewServer(t, func(a modeltest.Asked) modeltest.Answer {
		if a.Nth == 1 {
			together.Done()
			together.Wait() // all first calls are in flight at once
		}
		return modeltest.Say(fmt.Sprintf("%s %d", a.Prompt(), a.Nth))
	})
	m := open(t, s)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := 1; n <= 3; n++ {
				req := deem.Prompt(fmt.Sprint(w))
				req.MaxTokens = n // prompts with different parameters count as the same
				reply, err := m.Complete(t.Context(), req)
				if want := fmt.Sprintf("%d %d", w, n); err != nil || reply.Text != want {
					t.Errorf("reply %q, error %v, want %q", reply.Text, err, want)
				}
			}
		})
	}
	wg.Wait()
	if s.Requests() != 3*workers || s.HighWater() != workers || len(s.Counts()) != workers || s.Counts()[deem.Prompt("0").Hash()] != 3 {
		t.Errorf("%d requests, %d at once, %d prompts, %d of the first; want %d, %d, %d, 3",
			s.Requests(), s.HighWater(), len(s.Counts()), s.Counts()[deem.Prompt("0").Hash()], 3*workers, workers, workers)
	}
}

func TestServerIsStrict(t *testing.T) {
	s := modeltest.NewServer(t, nil)
	tests := []struct{ path, contentType, body string }{
		{"/v1/chat/completions", "application/json", "{"},
		{"/v1/completions", "application/json", `{"messages":[{"role":"user","content":"q"}]}`},
		{"/v1/chat/completions", "text/plain", `{"messages":[{"role":"user","content":"q"}]}`},
		{"/v1/chat/completions", "application/json", `{"messages":[]}`},
		{"/v1/chat/completions", "application/json", `{"messages":[{"role":"user","content":"q"}],"stream":true}`},
		{"/v1/chat/completions", "application/json", `{"messages":[{"role":"user","content":"q"}],"n":2}`},
		{"/v1/chat/completions", "application/json", `{"messages":[{"role":"user","content":"q"}],"top_logprobs":2}`},
	}
	for _, tt := range tests {
		resp, err := http.Post(s.URL+tt.path, tt.contentType, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("POST %s of %s gave status %d, want 400", tt.path, tt.body, resp.StatusCode)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestServerClosesOnThoseWhoHang must end at once.
func TestServerClosesOnThoseWhoHang(t *testing.T) {
	asked := make(chan struct{})
	s := modeltest.Serve(modeltest.OpenAI(), func(modeltest.Asked) modeltest.Answer {
		close(asked)
		return modeltest.Answer{Hang: true}
	})
	m := open(t, s)
	done := make(chan error)
	go func() {
		_, err := m.Complete(t.Context(), deem.Prompt("q"))
		done <- err
	}()
	<-asked
	start := time.Now()
	s.Close()
	if err := <-done; err == nil {
		t.Error("a closed server gave a reply")
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("Close took %v", took)
	}
}
