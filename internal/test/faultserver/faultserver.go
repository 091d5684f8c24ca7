// Package faultserver is a vendor that misbehaves on purpose: an OpenAI-compatible server
// for tests and benchmarks that is slow, overloaded or broken, as configured, and counts
// how its callers react.
//
// A [Server] is an [http.Handler]; [Server.Start] serves it on a loopback address. It
// answers POST .../chat/completions with a verdict, "CORRECT" or "INCORRECT", determined by
// the hash of the messages. [Options] configure how long that takes, how many callers are
// served concurrently, and which share of the answers fails in which way.
//
// The outcome of a request is determined by the hash of the seed, the request's body and
// how many times that body was admitted before. It does not depend on the order of
// goroutines, so two runs over the same items get the same faults. Only [Options.Slots],
// [Options.Rate] and [Options.Storm] depend on the clock, as they do at a vendor.
//
// It shares the machine with what it measures, so it is frugal: a request is hashed and
// never parsed, and answers are written by hand.
package faultserver

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options configure a [Server]. The zero value answers every request at once and correctly.
type Options struct {
	// Seed determines, with the request, its outcome.
	Seed uint64

	// Latency is how long an answer takes. Up to Jitter is added, by the hash of the
	// request.
	Latency time.Duration
	Jitter  time.Duration

	// Exact uses a timer of the system, if there is one that is more exact than Go's.
	// Benchmarks need it; package synctest does not support such timers.
	Exact bool

	// Slots is how many requests are served concurrently; if all are taken, a request is
	// refused with a 429. 0 means no limit.
	Slots int

	// Rate is how many requests are admitted per second, up to a second's worth at once; a
	// request that comes too early is refused with a 429. 0 means no limit.
	Rate float64

	// Storm periodically refuses all requests for a while.
	Storm Storm

	// RetryAfter is the Retry-After of refusals, rounded up to seconds as the header
	// requires; 0 means one second, and a negative value omits the header.
	RetryAfter time.Duration

	// Grace is how long after the first refusal a caller may still exceed the limits
	// without being counted in [Stats.Exceeded]; 0 means two seconds.
	Grace time.Duration

	// Faults are the shares of requests, each from 0 to 1, that fail. Together they are at
	// most 1.
	Faults map[Fault]float64

	// Drip is how long the body of a [Slow] answer takes; 0 means one second.
	Drip time.Duration

	// Labels are the possible answers; empty means CORRECT and INCORRECT. They must not
	// need escaping in JSON.
	Labels []string
}

// A Storm is a period in which all requests are refused: the last For of every Every.
type Storm struct {
	Every, For time.Duration
}

// A Server answers according to its options. Its methods are safe for concurrent use.
type Server struct {
	opts    Options
	shares  []share
	replies []string // one for each label
	started time.Time

	closing context.Context // done once the server must not answer any more
	close   context.CancelFunc
	serving sync.WaitGroup

	mu     sync.Mutex
	http   *http.Server
	asked  map[digest]*asked
	stats  Stats
	tokens float64   // of the rate
	filled time.Time // when they were last counted
	first  time.Time // of the refusals
}

// New returns a server. It panics if the shares of faults are invalid, or name an unknown
// fault.
func New(o Options) *Server {
	if o.RetryAfter == 0 {
		o.RetryAfter = time.Second
	}
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if o.Drip <= 0 {
		o.Drip = time.Second
	}
	if len(o.Labels) == 0 {
		o.Labels = []string{"CORRECT", "INCORRECT"}
	}
	s := &Server{
		opts: o, shares: sharesOf(o.Faults), started: time.Now(), filled: time.Now(),
		asked: map[digest]*asked{}, tokens: burst(o.Rate),
	}
	s.stats.Faults = map[Fault]int{}
	s.closing, s.close = context.WithCancel(context.Background())
	for _, label := range o.Labels {
		s.replies = append(s.replies, reply(label, "stop"))
	}
	return s
}

// Start serves on a free port of the loopback address and returns the base URL to call, for
// example "http://127.0.0.1:40123/v1". It owns goroutines until [Server.Close].
func (s *Server) Start(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("start the fault server: %w", err)
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.http = srv
	s.mu.Unlock()
	s.serving.Go(func() { _ = srv.Serve(ln) }) // It always returns an error, because of Close.
	return fmt.Sprintf("http://%s/v1", ln.Addr()), nil
}

// Close ends the server, aborts requests in flight, and waits until they have ended.
func (s *Server) Close() error {
	s.close()
	s.mu.Lock()
	srv := s.http
	s.mu.Unlock()
	if srv == nil {
		return nil
	}
	err := srv.Close()
	s.serving.Wait()
	return err
}

// An Output collects the output of a process. Tests that start deem against a [Server] read it
// while the process writes.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds output.
func (s *Output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String returns the output so far.
func (s *Output) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
