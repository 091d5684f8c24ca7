package model

import (
	"container/list"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"deem"
)

// LimitOptions say how much [Limit] lets through at most.
type LimitOptions struct {
	Concurrency int // calls in flight; 0 means 16
	RPM         int // requests per minute; 0 means no bound
	TPM         int // tokens per minute, input and output; 0 means no bound
}

const (
	defaultConcurrency = 16

	// slowStart is how many calls are in flight at first. Doubling from here, a
	// ceiling of 512 is reached after four rounds of calls.
	slowStart = 32

	// guessedOutput is how many tokens of output are set aside for a request
	// that does not bound them. A verdict with its reasons is about as long.
	guessedOutput = 256

	// maxPause is how long one answer may stop all calls. Whoever asks for more
	// is out of service, and that is for the retries to decide.
	maxPause = 2 * time.Minute
)

// A Limiter is a model that bounds the calls made to another. See [Limit].
type Limiter struct {
	inner    deem.Model
	ceiling  float64
	requests *bucket // nil when requests are not bounded
	tokens   *bucket // nil when tokens are not bounded

	mu       sync.Mutex
	limit    float64    // calls allowed in flight, from 1 to ceiling
	inFlight int        // calls that hold a place
	waiting  *list.List // of chan struct{}, closed when its owner has a place
	steep    bool       // still in slow start
	round    int        // counts the cuts, so that one overload is cut for once
	paused   time.Time  // no call begins before
}

var (
	_ deem.Model = (*Limiter)(nil)
	_ Wrapper    = (*Limiter)(nil)
)

// Limit returns a model that keeps the calls to m below what the user allows and
// at what the vendor bears.
//
// Concurrency is a ceiling. Below it the limit adapts as TCP does: it starts
// small and doubles with each round of calls that succeed; a vendor that says it
// is asked too much (429, 503, 529, or any error with a Retry-After) halves it,
// once for all calls that were then in flight; from there it grows by one call a
// round. A Retry-After also pauses new calls for as long.
//
// Where RPM or TPM are given, calls are spread evenly, with at most a second's
// worth at once. Tokens are estimated before the call and settled after it.
func Limit(m deem.Model, o LimitOptions) *Limiter {
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	l := &Limiter{
		inner:   m,
		ceiling: float64(o.Concurrency),
		limit:   float64(min(o.Concurrency, slowStart)),
		waiting: list.New(),
		steep:   true,
	}
	if o.RPM > 0 {
		l.requests = perMinute(o.RPM)
	}
	if o.TPM > 0 {
		l.tokens = perMinute(o.TPM)
	}
	return l
}

// perMinute returns a bucket for n tokens a minute that holds a second's worth,
// since vendors count in windows shorter than a minute, too.
func perMinute(n int) *bucket {
	perSecond := float64(n) / 60
	return newBucket(max(1, perSecond), perSecond)
}

// Name returns the name of the model inside.
func (l *Limiter) Name() string { return l.inner.Name() }

// Unwrap returns the model inside.
func (l *Limiter) Unwrap() deem.Model { return l.inner }

// Current returns how many calls may be in flight now.
func (l *Limiter) Current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.limit)
}

// InFlight returns how many calls hold a place now.
func (l *Limiter) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight
}

// Complete waits for a place, asks the model inside, and learns from what came
// of it. While it waits it holds nothing that outlives ctx.
func (l *Limiter) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	if err := l.acquire(ctx); err != nil {
		return deem.Reply{}, err
	}
	// A panic in the wire must not cost the place for good.
	defer l.release()

	estimate := l.estimate(req)
	if err := l.spread(ctx, estimate); err != nil {
		return deem.Reply{}, err
	}
	round := l.currentRound()
	reply, err := l.inner.Complete(ctx, req)
	l.settle(estimate, reply, err)
	l.learn(round, err)
	return reply, err
}

// acquire waits for a place, first come, first served.
func (l *Limiter) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	// While there is a free place nobody waits: admit fills them all.
	if l.inFlight < int(l.limit) {
		l.inFlight++
		l.mu.Unlock()
		return nil
	}
	place := make(chan struct{})
	e := l.waiting.PushBack(place)
	l.mu.Unlock()

	select {
	case <-place:
		return nil
	case <-ctx.Done():
		l.leave(e, place)
		return ctx.Err()
	}
}

// leave gives up waiting. If the place was granted in the meantime it goes to
// the next in line.
func (l *Limiter) leave(e *list.Element, place chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-place:
		l.inFlight--
		l.admit()
	default:
		l.waiting.Remove(e)
	}
}

// release frees a place.
func (l *Limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	l.admit()
}

// admit grants places to those who wait, as far as the limit allows. The caller
// holds the lock.
func (l *Limiter) admit() {
	for l.inFlight < int(l.limit) {
		e := l.waiting.Front()
		if e == nil {
			return
		}
		l.waiting.Remove(e)
		l.inFlight++
		close(e.Value.(chan struct{}))
	}
}

// spread waits until the vendor's pause is over and the rates allow a call.
func (l *Limiter) spread(ctx context.Context, tokens float64) error {
	for {
		l.mu.Lock()
		pause := time.Until(l.paused)
		l.mu.Unlock()
		if pause <= 0 {
			break
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	if err := draw(ctx, l.requests, 1); err != nil {
		return err
	}
	return draw(ctx, l.tokens, tokens)
}

// draw takes n tokens from b and waits until they are there. Whoever is
// interrupted puts them back.
func draw(ctx context.Context, b *bucket, n float64) error {
	if b == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	wait, _ := b.take(n, math.MaxInt64)
	if err := sleep(ctx, wait); err != nil {
		b.give(n)
		return err
	}
	return nil
}

// estimate returns how many tokens a call may use: about four bytes of English
// make one, and the reply may be as long as it is allowed to be.
func (l *Limiter) estimate(req deem.Request) float64 {
	if l.tokens == nil {
		return 0
	}
	size := 0
	for _, m := range req.Messages {
		size += len(m.Content) + len(m.Role)
	}
	output := req.MaxTokens
	if output <= 0 {
		output = guessedOutput
	}
	return float64(size/4 + output)
}

// settle gives back what the call did not use of its estimate, or takes what it
// used beyond. A failed call used nothing that we know of, but a 429 is no reason
// to hurry, so its estimate stays spent.
func (l *Limiter) settle(estimate float64, reply deem.Reply, err error) {
	used := float64(reply.Usage.Input + reply.Usage.Output)
	if l.tokens == nil || err != nil || used == 0 {
		return
	}
	l.tokens.give(estimate - used)
}

// currentRound returns the number of cuts so far.
func (l *Limiter) currentRound() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.round
}

// learn adapts the limit to the end of a call that began in the given round.
func (l *Limiter) learn(round int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after, overloaded := overload(err)
	switch {
	case overloaded:
		l.cut(round, after)
	case err == nil:
		l.grow()
	}
	// Other errors say nothing about how much the vendor bears.
}

// cut halves the limit, unless the call began before the last cut: its trouble
// is what that cut was for.
func (l *Limiter) cut(round int, after time.Duration) {
	if after <= maxPause {
		if until := time.Now().Add(after); until.After(l.paused) {
			l.paused = until
		}
	}
	if round == l.round {
		l.round++
		l.steep = false
		l.limit = max(1, math.Floor(l.limit/2))
	}
}

// grow raises the limit after a success, by one in slow start, which doubles it
// each round, and by one a round later. A limit that is not reached has not been
// tested, and stays.
func (l *Limiter) grow() {
	if float64(l.inFlight) < math.Floor(l.limit) {
		return
	}
	step := 1.0
	if !l.steep {
		step = 1 / l.limit
	}
	l.limit = min(l.ceiling, l.limit+step)
	l.admit()
}

// overload reports whether err says that the vendor is asked too much, and how
// long it asks to be left alone.
func overload(err error) (time.Duration, bool) {
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok || !me.Passing {
		return 0, false
	}
	busy := me.Status == 429 || me.Status == 503 || me.Status == 529
	return me.RetryAfter, busy || me.RetryAfter > 0
}
