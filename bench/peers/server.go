package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A vendor is a server on the loopback address that speaks OpenAI's wire, gives every
// request the same reply, and counts which items it was asked about.
//
// Package faultserver is not used: it knows requests by their hash and answers with a
// label, while here two versions of a request must count as one item, and each contestant
// wants a reply of another form. The vendor runs in this process, whose time of the
// processor is nobody's.
type vendor struct {
	url     string // the base URL
	message string // the reply's message, as JSON
	latency time.Duration

	http    *http.Server
	serving sync.WaitGroup

	known   int            // how many items there are
	busy    sync.WaitGroup // requests that were let in
	mu      sync.Mutex
	tally   tally
	half    int    // after how many items answered
	reached func() // is called, once
}

// A tally is what a vendor was asked from one point to another.
type tally struct {
	asked    []int // requests for each item
	answered []int // answers for each item
	strange  int   // requests about no item, or about two
	inFlight int   // let in and not answered
	peak     int   // of inFlight
}

func newTally(n int) tally { return tally{asked: make([]int, n), answered: make([]int, n)} }

// requests returns how many requests were about an item.
func (t tally) requests() int { return sum(t.asked) }

// items returns how many items were answered.
func (t tally) items() int {
	n := 0
	for _, k := range t.answered {
		if k > 0 {
			n++
		}
	}
	return n
}

// open returns how many items were asked about and have no answer: the calls that were
// under way when a process was killed.
func (t tally) open() int {
	n := 0
	for i, k := range t.asked {
		if k > 0 && t.answered[i] == 0 {
			n++
		}
	}
	return n
}

// paidTwice returns how many items that the first run got an answer to were asked about
// by the second.
func paidTwice(first, second tally) int {
	n := 0
	for i, k := range first.answered {
		if k > 0 && second.asked[i] > 0 {
			n++
		}
	}
	return n
}

// never returns how many items have no answer after both runs.
func never(first, second tally) int {
	n := 0
	for i, k := range first.answered {
		if k+second.answered[i] == 0 {
			n++
		}
	}
	return n
}

func sum(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

// startVendor starts a server that knows n items. Closing it ends its goroutines.
func startVendor(ctx context.Context, n int, message string, latency time.Duration) (*vendor, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	v := &vendor{url: fmt.Sprintf("http://%s/v1", ln.Addr()), message: message, latency: latency, known: n, tally: newTally(n)}
	v.http = &http.Server{Handler: v, ReadHeaderTimeout: time.Minute}
	v.serving.Go(func() { _ = v.http.Serve(ln) }) // It always ends with an error, and close is why.
	return v, nil
}

func (v *vendor) close() {
	_ = v.http.Close()
	v.serving.Wait()
}

// next returns what was counted, and counts from nothing again. It is called when the
// process that asked is gone, and waits until what it asked last is counted.
func (v *vendor) next() tally {
	v.busy.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.tally
	v.tally = newTally(v.known)
	return t
}

// after arranges that f is called by the answer that makes it n items.
func (v *vendor) after(n int, f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.half, v.reached = n, f
}

// ServeHTTP answers completions, and nothing else.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The caller has gone.
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		v.refuse(w, "there is nothing at "+r.URL.Path)
		return
	}
	i, ok := itemIn(body)
	if !ok || i >= v.known {
		v.refuse(w, "the request is about no item, or about two")
		return
	}
	v.enter(i)
	answered := false
	defer func() { v.leave(i, answered) }()
	if !wait(r.Context(), v.latency) {
		panic(http.ErrAbortHandler) // No answer must not look like an empty one.
	}
	answered = v.answer(w) == nil
}

// refuse counts a request that no contestant should make.
func (v *vendor) refuse(w http.ResponseWriter, why string) {
	v.mu.Lock()
	v.tally.strange++
	v.mu.Unlock()
	http.Error(w, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, why), http.StatusBadRequest)
}

func (v *vendor) enter(i int) {
	v.busy.Add(1)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.asked[i]++
	v.tally.inFlight++
	v.tally.peak = max(v.tally.peak, v.tally.inFlight)
}

// leave counts the end of a request. The answer that makes it half calls reached itself,
// so that nothing comes between the answer and the kill.
func (v *vendor) leave(i int, answered bool) {
	defer v.busy.Done()
	v.mu.Lock()
	v.tally.inFlight--
	if answered {
		v.tally.answered[i]++
	}
	reached := v.reached
	if reached == nil || v.tally.items() < v.half {
		v.mu.Unlock()
		return
	}
	v.reached = nil
	v.mu.Unlock()
	reached()
}

// answer writes the reply and hands it to the system, so that what counts as answered has
// left this process.
func (v *vendor) answer(w http.ResponseWriter) error {
	body := `{"id":"chatcmpl-0","object":"chat.completion","created":1700000000,"model":"test","choices":[{"index":0,` +
		`"message":` + v.message + `,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":100,"completion_tokens":2,"total_tokens":102}}`
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := io.WriteString(w, body); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// wait sleeps, and reports whether the caller is still there.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
