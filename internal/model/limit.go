package model

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"deem"
)

// LimitOptions limit the calls of a model.
type LimitOptions struct {
	Concurrency int // calls in flight; 0 means 16
	RPM         int // requests per minute; 0 means no limit
	TPM         int // tokens per minute, input and output; 0 means no limit

	Fleet fleet // other processes that share the model; nil if there are none
}

// A fleet is a set of processes that call one model and share its limits. A model asks it
// before each call, after its own limits, and reports how the call ended.
type fleet interface {
	// Begin waits until a call that may use about that many tokens can begin without
	// exceeding the shared limits. The error is that of ctx. Every Begin without an error
	// has an End.
	Begin(ctx context.Context, tokens int) error

	// End reports that a call has ended, how many tokens were passed to Begin, and how many
	// it used. If that is unknown, used is the estimate; if no call was made, it is 0.
	End(estimate, used int)
}

const (
	defaultConcurrency = 16

	// guessedOutput is the number of output tokens reserved for a request without a limit,
	// about the length of a verdict with its reasons.
	guessedOutput = 256

	// maxPause is how long one reply may stop all calls. A server that asks for more is out
	// of service, which the retries handle.
	maxPause = 2 * time.Minute

	// maxProbes is how many probe calls may be made in one pause. More than one, since a
	// probe may come just before a slot becomes free.
	maxProbes = 3

	// An occasional 503 or 529 is the vendor's own trouble. Three of them without successes
	// in between are not; a success offsets a tenth of one.
	suspicious = 3
	forgotten  = 0.1

	// firstBackoff, doubled with each refusal, and maxBackoff are the pauses for a vendor
	// that refuses everything without a Retry-After.
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = time.Second
)

// A limiter is a model that limits the calls made to another. See newLimiter.
type limiter struct {
	decorator
	requests *bucket // nil if requests are not limited
	tokens   *bucket // nil if tokens are not limited
	fleet    fleet   // nil if no other process shares the model
	thoughts int     // estimated thinking tokens per call

	mu      sync.Mutex
	level   level
	places  int        // callers that hold a slot
	calling int        // those whose call has begun
	waiting *list.List // of *place

	paused       time.Time   // no call begins before this time, except probes
	wake         *time.Timer // admits waiting callers when the pause ends
	probes       int         // probes made in this pause
	probeFree    bool        // a probe may begin
	refusedAlone int         // refusals since the last success while no other call was being served
	suspicion    float64     // ambiguous signs of overload, decayed by successes
}

// A place is a slot that lets its owner make one call.
type place struct {
	granted chan struct{} // closed when the owner has the slot
	probe   bool          // the call tests whether the vendor accepts calls again
	cut     int           // overloads when the slot was granted
}

// newLimiter returns a model that keeps the calls to m within the user's limits and near the
// vendor's capacity.
//
// Concurrency is a ceiling. Below it the limit adapts: it starts at 16 calls and doubles
// with each round of successful calls. If the vendor signals overload (429, any error with
// a Retry-After, or several 503 and 529 in a row), the limit drops to the number of calls
// being served, and to half if overload persists. After that it grows by one call per
// round, and only occasionally beyond a number that was refused.
//
// A Retry-After also pauses new calls for that time. A vendor that refuses everything
// without a Retry-After is not called for up to a second. A vendor that limits concurrent
// calls has a free slot as soon as one of them ends, so if a reply comes during a pause,
// one call is made as a probe, and its success ends the pause.
//
// With RPM or TPM, calls are spread evenly, with at most a second's worth at once. Tokens
// are estimated before the call and settled after it.
//
// A limiter owns no goroutine; a pause sets a timer, which expires by itself.
func newLimiter(m deem.Model, o LimitOptions) *limiter {
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	l := &limiter{decorator: decorator{m}, fleet: o.Fleet, level: newLevel(o.Concurrency), waiting: list.New(), thoughts: min(RoomOf(m), guessedOutput)}
	if o.RPM > 0 {
		l.requests = perMinute(o.RPM)
	}
	if o.TPM > 0 {
		l.tokens = perMinute(o.TPM)
	}
	return l
}

// perMinute returns a bucket for n tokens per minute that holds one second's worth, since
// vendors also count in windows shorter than a minute.
func perMinute(n int) *bucket {
	perSecond := float64(n) / 60
	return newBucket(max(1, perSecond), perSecond)
}

// Current returns how many calls may be in flight now.
func (l *limiter) Current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.level.limit)
}

// InFlight returns how many calls hold a slot now.
func (l *limiter) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places
}

// Complete waits for a slot, calls the model inside, and learns from the outcome. While
// waiting, it holds nothing that outlives ctx.
func (l *limiter) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	p, err := l.acquire(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	begun := false
	defer func() { // A panic in the wire must not leak the slot.
		l.mu.Lock()
		defer l.mu.Unlock()
		if begun {
			l.calling--
		}
		l.places--
		l.admit()
	}()

	estimate := l.estimate(req)
	if err := l.spread(ctx, p, estimate); err != nil {
		return deem.Reply{}, err
	}
	if err := over(ctx); err != nil {
		return deem.Reply{}, err
	}
	if l.fleet != nil {
		if err := l.fleet.Begin(ctx, int(estimate)); err != nil {
			return deem.Reply{}, err
		}
		if err := over(ctx); err != nil { // The run ended meanwhile.
			l.fleet.End(int(estimate), 0)
			return deem.Reply{}, err
		}
	}
	l.mu.Lock()
	l.calling++
	if l.requests != nil || l.tokens != nil {
		p.cut = l.level.cuts // it may have waited long since its slot was granted
	}
	l.mu.Unlock()
	begun = true
	reply, err := l.inner.Complete(ctx, req)
	fatal(ctx, err) // before the slot goes to another caller, whose call would be in vain
	used := reply.Usage.Input + reply.Usage.Output
	if l.fleet != nil {
		l.fleet.End(int(estimate), cmp.Or(used, int(estimate)))
	}
	// A failed call used no known tokens, but a 429 is not a reason to hurry, so its
	// estimate stays spent.
	if l.tokens != nil && err == nil && used != 0 {
		l.tokens.give(estimate - float64(used))
	}
	l.learn(p, err)
	return reply, err
}

// acquire waits for a slot, first come, first served. Retries queue too: if they went
// first, one item would use up its attempts while the others wait.
func (l *limiter) acquire(ctx context.Context) (*place, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &place{}
	l.mu.Lock()
	// If a slot is free, no caller waits: admit fills them all.
	if l.grant(p) {
		l.mu.Unlock()
		return p, nil
	}
	p.granted = make(chan struct{})
	e := l.waiting.PushBack(p)
	l.mu.Unlock()

	over, why := stopped(ctx)
	select {
	case <-p.granted:
		return p, nil
	case <-over:
		l.leave(e)
		return nil, why()
	case <-deem.Stopping(ctx):
		l.leave(e)
		return nil, deem.ErrStopped
	case <-ctx.Done():
		l.leave(e)
		return nil, ctx.Err()
	}
}

// leave gives up waiting. If the slot was granted in the meantime, it goes to the next
// caller.
func (l *limiter) leave(e *list.Element) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := e.Value.(*place)
	select {
	case <-p.granted:
		l.places--
		l.probeFree = l.probeFree || p.probe
		l.admit()
	default:
		l.waiting.Remove(e)
	}
}

// grant gives p a slot if there is one. The caller holds the lock.
func (l *limiter) grant(p *place) bool {
	switch {
	case l.places >= int(l.level.limit):
		return false
	case l.pausing() && !l.probeFree:
		return false
	case l.pausing():
		l.probeFree, p.probe = false, true
	}
	l.places++
	p.cut = l.level.cuts
	return true
}

// admit grants slots to waiting callers. The caller holds the lock.
func (l *limiter) admit() {
	for e := l.waiting.Front(); e != nil; e = l.waiting.Front() {
		p := e.Value.(*place)
		if !l.grant(p) {
			return
		}
		l.waiting.Remove(e)
		close(p.granted)
	}
}

// pausing reports whether new calls are paused. The caller holds the lock.
func (l *limiter) pausing() bool {
	return !l.paused.IsZero() && time.Now().Before(l.paused)
}

// pause stops new calls for d. The caller holds the lock.
func (l *limiter) pause(d time.Duration) {
	if d <= 0 || d > maxPause {
		return
	}
	if !l.pausing() {
		l.probes, l.probeFree = 0, false
	}
	until := time.Now().Add(d)
	if !until.After(l.paused) {
		return
	}
	l.paused = until
	if l.wake == nil {
		l.wake = time.AfterFunc(d, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.admit()
		})
	} else {
		l.wake.Reset(d)
	}
}

// spread waits until the rates allow a call and any pause that began meanwhile is over.
func (l *limiter) spread(ctx context.Context, p *place, tokens float64) error {
	if l.requests == nil && l.tokens == nil {
		return ctx.Err()
	}
	if err := draw(ctx, l.requests, 1); err != nil {
		return err
	}
	if err := draw(ctx, l.tokens, tokens); err != nil {
		return err
	}
	for !p.probe {
		l.mu.Lock()
		left := time.Until(l.paused)
		l.mu.Unlock()
		if left <= 0 {
			break
		}
		if err := sleep(ctx, left); err != nil {
			return err
		}
	}
	return nil
}

// draw takes n tokens from b and waits for them. If ctx is done first, it puts them back.
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

// estimate returns how many tokens a call may use: one per four bytes, as in English, plus
// the maximum length of the reply.
func (l *limiter) estimate(req deem.Request) float64 {
	if l.tokens == nil && l.fleet == nil {
		return 0
	}
	size := 0
	for _, m := range req.Messages {
		size += len(m.Content) + len(m.Role)
	}
	output := req.MaxTokens + l.thoughts
	if req.MaxTokens <= 0 {
		output = guessedOutput
	}
	return float64(size/4 + output)
}

// learn adapts the level to the outcome of a call.
func (l *limiter) learn(p *place, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after, sign := overload(err)
	if sign == vague {
		l.suspicion++
	}
	switch {
	case sign == plain, sign == vague && l.suspicion >= suspicious:
		if expected := l.level.refuse(p.cut, l.calling-1); !expected {
			l.pause(max(after, l.backoff()))
		}
	case err == nil:
		l.refusedAlone, l.suspicion = 0, max(0, l.suspicion-forgotten)
		l.level.succeed(p.cut, l.places >= int(l.level.limit))
		switch {
		case !l.pausing():
		case p.probe: // It succeeded, which ends the pause.
			l.paused = time.Time{}
			l.wake.Stop()
		case l.probes < maxProbes && !l.probeFree:
			l.probes++
			l.probeFree = true
		}
	}
	// Other errors say nothing about the vendor's capacity.
	l.admit()
}

// backoff returns how long to wait after a refusal while no call is being served. Without
// it, all waiting callers would be refused one after the other, as fast as the vendor can
// respond. The caller holds the lock.
func (l *limiter) backoff() time.Duration {
	if l.calling > 1 || l.pausing() {
		return 0
	}
	l.refusedAlone++
	return min(maxBackoff, firstBackoff<<min(l.refusedAlone-1, 10))
}

// A sign is what an error says about the vendor's load.
type sign int

const (
	none  sign = iota
	vague      // the vendor is in trouble, which may be unrelated to our calls
	plain      // we make too many calls
)

// overload returns what err says about the vendor's load, and its Retry-After.
func overload(err error) (time.Duration, sign) {
	me, ok := errors.AsType[*deem.ModelError](err)
	switch {
	case !ok || !me.Passing:
		return 0, none
	case me.Status == 429 || me.RetryAfter > 0:
		return me.RetryAfter, plain
	case me.Status == 503 || me.Status == 529:
		return 0, vague
	default:
		return 0, none
	}
}
