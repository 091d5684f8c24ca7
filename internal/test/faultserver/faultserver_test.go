package faultserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"deem/internal/test/faultserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body returns the i-th request.
func body(i int) string {
	return fmt.Sprintf(`{"model":"test","messages":[{"role":"user","content":"question %d, with \"quotes\", ] and }"}],"n":1}`, i)
}

// start serves on the network and returns a function that makes a request and returns the
// status, the body, and the error of reading it.
func start(t *testing.T, o faultserver.Options) (*faultserver.Server, func(i int) answer) {
	t.Helper()
	s := faultserver.New(o)
	url, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s, func(i int) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader(body(i)))
		if err != nil {
			t.Error(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return answer{err: err}
		}
		defer resp.Body.Close() //nolint:errcheck // it is read to its end
		text, err := io.ReadAll(resp.Body)
		return answer{resp.StatusCode, resp.Header, string(text), err}
	}
}

type answer struct {
	status int
	header http.Header
	text   string
	err    error
}

// reply is the part of an answer that callers read.
type reply struct {
	Choices []struct {
		Message      struct{ Content string }
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		PromptTokens int `json:"prompt_tokens"`
	}
}

func (a answer) reply(t *testing.T) reply {
	t.Helper()
	var r reply
	if a.err != nil || a.status != http.StatusOK {
		t.Fatalf("status %d, error %v, want a reply", a.status, a.err)
	}
	if err := json.Unmarshal([]byte(a.text), &r); err != nil {
		t.Fatalf("the reply %q is not JSON: %v", a.text, err)
	}
	return r
}

// TestReplies checks that both labels occur, that the messages alone determine which, and
// that an answer is complete.
func TestReplies(t *testing.T) {
	s, ask := start(t, faultserver.Options{})
	labels := map[string]int{}
	for i := range 200 {
		r := ask(i).reply(t)
		if len(r.Choices) != 1 || r.Choices[0].FinishReason != "stop" || r.Usage.PromptTokens == 0 {
			t.Fatalf("reply = %+v, want one choice that ended, with its usage", r)
		}
		labels[r.Choices[0].Message.Content]++
	}
	if len(labels) != 2 || labels["CORRECT"] < 60 || labels["INCORRECT"] < 60 {
		t.Errorf("labels = %v, want about as many CORRECT as INCORRECT", labels)
	}
	want := faultserver.Stats{Requests: 200, Distinct: 200, Answered: 200, Peak: 1, Faults: map[faultserver.Fault]int{}}
	if d := cmp.Diff(want, s.Stats()); d != "" {
		t.Errorf("stats differ (-want +got):\n%s", d)
	}
	ask(7)
	if got := s.Stats(); got.Duplicates != 1 || got.Distinct != 200 || got.PerItem() != 201.0/200 {
		t.Errorf("after a request that was answered before: %d duplicates of %d, %v per item, want 1 of 200, 1.005", got.Duplicates, got.Distinct, got.PerItem())
	}
}

// TestLabelIsOfMessages checks that parameters change the outcome of a request, and not the
// verdict.
func TestLabelIsOfMessages(t *testing.T) {
	s := faultserver.New(faultserver.Options{})
	for i := range 50 {
		plain := serve(s, body(i)).Body.String()
		other := serve(s, strings.Replace(body(i), `"n":1`, `"n":1,"seed":4`, 1)).Body.String()
		if plain != other {
			t.Fatalf("request %d with a seed: %s, without: %s", i, other, plain)
		}
	}
	if got := s.Stats().Distinct; got != 100 {
		t.Errorf("%d distinct requests, want 100", got)
	}
}

func serve(s http.Handler, text string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(text)))
	return w
}

func TestOtherPlaces(t *testing.T) {
	s := faultserver.New(faultserver.Options{})
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodGet, "/v1/models", "", 200, `"id":"test"`},
		{http.MethodGet, "/stats", "", 200, `"requests":0`},
		{http.MethodGet, "/v1/chat/completions", "", 404, "not_found"},
		{http.MethodPost, "/v1/embeddings", "{}", 404, "not_found"},
		{http.MethodPost, "/v1/chat/completions", `{"model":"test"}`, 400, "invalid_request_error"},
		{http.MethodPost, "/v1/chat/completions", `{"messages":[{"role":"user"`, 400, "invalid_request_error"},
		{http.MethodPost, "/chat/completions", body(1), 200, "CORRECT"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body)))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s %s = %d %s, want %d with %s", tt.method, tt.path, tt.body, w.Code, w.Body, tt.status, tt.want)
		}
	}
}

// TestFaults checks what a caller sees of each fault.
func TestFaults(t *testing.T) {
	for fault, check := range map[faultserver.Fault]func(t *testing.T, a answer){
		faultserver.Busy: func(t *testing.T, a answer) {
			if a.status != 429 || a.header.Get("Retry-After") != "3" || !strings.Contains(a.text, "rate_limit_exceeded") {
				t.Errorf("status %d, Retry-After %q, body %s", a.status, a.header.Get("Retry-After"), a.text)
			}
		},
		faultserver.Unavailable: func(t *testing.T, a answer) {
			if a.status < 500 || !json.Valid([]byte(a.text)) {
				t.Errorf("status %d, body %s, want 5xx and JSON", a.status, a.text)
			}
		},
		faultserver.Reset: func(t *testing.T, a answer) {
			if !errors.Is(a.err, syscall.ECONNRESET) && !errors.Is(a.err, io.EOF) {
				t.Errorf("error = %v, want a reset", a.err)
			}
		},
		faultserver.Slow: func(t *testing.T, a answer) {
			if got := a.reply(t); !strings.Contains(got.Choices[0].Message.Content, "CORRECT") {
				t.Errorf("reply = %+v", got)
			}
		},
		faultserver.Malformed: func(t *testing.T, a answer) {
			if a.err != nil || a.status != 200 || json.Valid([]byte(a.text)) {
				t.Errorf("status %d, error %v, body %s, want a whole body that is not JSON", a.status, a.err, a.text)
			}
		},
		faultserver.Truncated: func(t *testing.T, a answer) {
			if !errors.Is(a.err, io.ErrUnexpectedEOF) || a.text == "" {
				t.Errorf("error = %v after %q, want an end in the middle", a.err, a.text)
			}
		},
		faultserver.WrongType: func(t *testing.T, a answer) {
			if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(a.text, "<title>") {
				t.Errorf("status %d, type %q, body %s, want a page", a.status, a.header.Get("Content-Type"), a.text)
			}
		},
		faultserver.NoChoices: func(t *testing.T, a answer) {
			if got := a.reply(t); got.Choices == nil || len(got.Choices) != 0 {
				t.Errorf("choices = %v, want an empty list", got.Choices)
			}
		},
		faultserver.Filtered: func(t *testing.T, a answer) {
			if got := a.reply(t).Choices[0]; got.FinishReason != "content_filter" || got.Message.Content != "" {
				t.Errorf("choice = %+v, want a filtered one", got)
			}
		},
		faultserver.CutShort: func(t *testing.T, a answer) {
			if got := a.reply(t).Choices[0]; got.FinishReason != "length" {
				t.Errorf("choice = %+v, want one that was cut", got)
			}
		},
	} {
		t.Run(string(fault), func(t *testing.T) {
			s, ask := start(t, faultserver.Options{
				Faults: map[faultserver.Fault]float64{fault: 1}, RetryAfter: 2500 * time.Millisecond, Drip: 8 * time.Millisecond,
			})
			check(t, ask(0))
			// The caller may notice a broken connection before the server counts it.
			st := s.Stats()
			for deadline := time.Now().Add(time.Minute); st.InFlight > 0 && time.Now().Before(deadline); st = s.Stats() {
				time.Sleep(time.Millisecond)
			}
			// The transport may retry by itself if a connection is reset.
			if st.Faults[fault] < 1 || st.Faults[fault] != st.Requests || st.InFlight != 0 {
				t.Errorf("stats = %+v, want the fault for each request, and nobody left", st)
			}
		})
	}
}

// TestFate checks that the outcome depends on seed, body and attempt, and not on the order
// of requests.
func TestFate(t *testing.T) {
	outcomes := func(seed uint64, at []int) map[int][]int {
		s := faultserver.New(faultserver.Options{Seed: seed, Faults: map[faultserver.Fault]float64{
			faultserver.Busy: 0.2, faultserver.Unavailable: 0.2, faultserver.Filtered: 0.1,
		}})
		got := map[int][]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, i := range at {
			wg.Go(func() {
				for range 4 {
					code := serve(s, body(i)).Code
					mu.Lock()
					got[i] = append(got[i], code)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		return got
	}
	var up, down []int
	for i := range 100 {
		up, down = append(up, i), append(down, 99-i)
	}
	first := outcomes(1, up)
	if d := cmp.Diff(first, outcomes(1, down)); d != "" {
		t.Errorf("the order of requests changes what happens to them (-up +down):\n%s", d)
	}
	if cmp.Equal(first, outcomes(2, up)) {
		t.Error("another seed changes nothing")
	}
	attempts, busy, down5xx := 0, 0, 0
	for _, codes := range first {
		for _, code := range codes {
			attempts++
			switch {
			case code == 429:
				busy++
			case code >= 500:
				down5xx++
			}
		}
	}
	if busy < attempts/10 || busy > attempts*3/10 || down5xx < attempts/10 || down5xx > attempts*3/10 {
		t.Errorf("of %d attempts %d were busy and %d failed, want about a fifth each", attempts, busy, down5xx)
	}
}

// TestSlots checks that no more requests than slots are served concurrently, that the
// others get a Retry-After, and that callers that do not adapt are counted.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultserver.New(faultserver.Options{Slots: 3, Latency: time.Second, Grace: 5 * time.Second})
		codes := func() map[int]int {
			got := map[int]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range 5 {
				wg.Go(func() {
					w := serve(s, body(i))
					mu.Lock()
					defer mu.Unlock()
					got[w.Code]++
					if w.Code == 429 && w.Header().Get("Retry-After") != "1" {
						t.Errorf("Retry-After = %q, want 1", w.Header().Get("Retry-After"))
					}
				})
			}
			wg.Wait()
			return got
		}
		if d := cmp.Diff(map[int]int{200: 3, 429: 2}, codes()); d != "" {
			t.Errorf("statuses differ (-want +got):\n%s", d)
		}
		codes() // Still within the grace period.
		st := s.Stats()
		if st.Refused != 4 || st.Exceeded != 0 || st.Peak != 3 || st.Requests != 10 {
			t.Errorf("stats = %+v, want 4 refused of 10, none exceeding, peak 3", st)
		}
		time.Sleep(10 * time.Second)
		codes()
		if got := s.Stats().Exceeded; got != 2 {
			t.Errorf("%d exceeded after the grace, want 2", got)
		}
	})
}

func TestRateAndStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultserver.New(faultserver.Options{Rate: 10, RetryAfter: -1})
		served := 0
		for i := range 100 { // Twenty per second for five seconds.
			w := serve(s, body(i))
			if w.Code == 200 {
				served++
			} else if w.Header().Get("Retry-After") != "" {
				t.Fatal("those who are not to be told are told when to come")
			}
			time.Sleep(50 * time.Millisecond)
		}
		if served < 55 || served > 65 {
			t.Errorf("%d of 100 requests in 5 s were served at 10 per second and 10 at once, want about 60", served)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := faultserver.New(faultserver.Options{Storm: faultserver.Storm{Every: 10 * time.Second, For: 2 * time.Second}})
		var got []int
		for i := range 21 {
			got = append(got, serve(s, body(i)).Code/100)
			time.Sleep(time.Second)
		}
		want := []int{2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 2}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("statuses by second differ (-want +got):\n%s", d)
		}
	})
}

// TestExactLatency checks that the system's timer is never early, and ends with the caller
// or the server.
func TestExactLatency(t *testing.T) {
	const latency = 20 * time.Millisecond
	began := time.Now()
	got := serve(faultserver.New(faultserver.Options{Latency: latency, Exact: true}), body(1))
	if took := time.Since(began); got.Code != http.StatusOK || took < latency {
		t.Errorf("status %d after %v, want 200 after %v", got.Code, took, latency)
	}
	s := faultserver.New(faultserver.Options{Latency: time.Hour, Exact: true})
	gone, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if !aborts(gone, s) {
		t.Error("a caller who has gone was answered")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !aborts(t.Context(), s) {
		t.Error("a server that is closed answered")
	}
}

// aborts reports whether the server aborted instead of answering.
func aborts(ctx context.Context, s http.Handler) (aborted bool) {
	defer func() { aborted = recover() == http.ErrAbortHandler }()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", strings.NewReader(body(2)))
	s.ServeHTTP(httptest.NewRecorder(), r)
	return false
}

// TestLatency checks the latency of answers, with jitter determined by the request.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := faultserver.New(faultserver.Options{Latency: 50 * time.Millisecond, Jitter: 20 * time.Millisecond})
		took := map[time.Duration]bool{}
		for i := range 20 {
			began := time.Now()
			serve(s, body(i))
			d := time.Since(began)
			if d < 50*time.Millisecond || d > 70*time.Millisecond {
				t.Errorf("request %d took %v, want 50 to 70 ms", i, d)
			}
			took[d] = true
		}
		if len(took) < 10 {
			t.Errorf("20 requests took %d different times", len(took))
		}
	})
}

// TestClose checks that Close leaves no caller hanging.
func TestClose(t *testing.T) {
	s := faultserver.New(faultserver.Options{Latency: time.Hour})
	url, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", bytes.NewReader([]byte(body(0))))
		if err != nil {
			done <- err
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = errors.Join(errors.New("there was an answer"), resp.Body.Close())
			done <- err
			return
		}
		done <- nil
	}()
	for s.Stats().InFlight == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestWrongShares(t *testing.T) {
	for name, faults := range map[string]map[faultserver.Fault]float64{
		"too many": {faultserver.Busy: 0.6, faultserver.Slow: 0.6},
		"negative": {faultserver.Busy: -0.1},
		"unknown":  {"nonsense": 0.1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: New took the shares %v", name, faults)
				}
			}()
			faultserver.New(faultserver.Options{Faults: faults})
		}()
	}
}

// BenchmarkServe measures the cost of a request in the server, without the network.
func BenchmarkServe(b *testing.B) {
	s := faultserver.New(faultserver.Options{})
	text := body(1)
	b.ReportAllocs()
	for b.Loop() {
		serve(s, text)
	}
}
