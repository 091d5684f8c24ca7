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

	Fleet Fleet // other processes that share the model; nil means that there are none
}

const (
	defaultConcurrency = 16

	// guessedOutput is how many tokens of output are set aside for a request
	// that does not bound them. A verdict with its reasons is about as long.
	guessedOutput = 256

	// maxPause is how long one answer may stop all calls. A server that asks for more
	// is out of service, and that is for the retries to decide.
	maxPause = 2 * time.Minute

	// maxProbes is how many calls may go ahead in one pause. More than one, since
	// a probe may meet a slot that is about to be free.
	maxProbes = 3

	// A 503 or 529 now and then is the vendor's own trouble. Three of them without
	// successes in between are not, and a success makes up for a tenth of one.
	suspicious = 3
	forgotten  = 0.1

	// firstBackoff, doubled with each refusal, and maxBackoff are the pauses for a
	// vendor that refuses everything and does not say for how long.
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = time.Second
)

// A Limiter is a model that bounds the calls made to another. See [Limit].
type Limiter struct {
	inner    deem.Model
	requests *bucket // nil when requests are not bounded
	tokens   *bucket // nil when tokens are not bounded
	fleet    Fleet   // nil when nobody else asks
	thoughts int     // the tokens that a call is taken to spend on thinking

	mu      sync.Mutex
	level   level
	places  int        // callers that hold a place
	calling int        // those of them whose call has begun
	waiting *list.List // of *place

	paused    time.Time   // no call begins before, but for probes
	wake      *time.Timer // admits those who wait when the pause is over
	probes    int         // how many this pause has had
	probeFree bool        // a probe may begin
	lonely    int         // refusals since the last success while no other call was being served
	suspicion float64     // vague signs of overload, less what was forgotten since
}

// A place lets its owner make one call.
type place struct {
	granted chan struct{} // closed when the owner has the place
	probe   bool          // the call is to find out whether the vendor takes calls again
	cut     int           // overloads when the place was granted
}

var (
	_ deem.Model = (*Limiter)(nil)
	_ Wrapper    = (*Limiter)(nil)
)

// Limit returns a model that keeps the calls to m below what the user allows and
// at what the vendor bears.
//
// Concurrency is a ceiling. Below it the limit adapts: it starts at 16 calls and
// doubles with each round of calls that succeed. A vendor that says it is asked too
// much (429, any error with a Retry-After, or several 503 and 529 in a row) cuts it to
// the number of calls that are being served, and to half when it still says so then.
// After that it grows by one call a round, and only now and then beyond a number that was
// refused.
//
// A Retry-After also pauses new calls for as long, and a vendor that refuses all and
// does not say for how long is left alone for up to a second. A vendor that refuses calls for
// their number alone has a place again as soon as one of them is done, so when a
// reply comes during a pause one call goes ahead, and its success ends the pause.
//
// Where RPM or TPM are given, calls are spread evenly, with at most a second's
// worth at once. Tokens are estimated before the call and settled after it.
//
// A limiter owns no goroutine; a pause sets a timer, which runs out by itself.
func Limit(m deem.Model, o LimitOptions) *Limiter {
	if o.Concurrency <= 0 {
		o.Concurrency = defaultConcurrency
	}
	l := &Limiter{inner: m, fleet: o.Fleet, level: newLevel(o.Concurrency), waiting: list.New(), thoughts: min(RoomOf(m), guessedOutput)}
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
	return int(l.level.limit)
}

// InFlight returns how many calls hold a place now.
func (l *Limiter) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.places
}

// Complete waits for a place, asks the model inside, and learns from what came
// of it. While it waits it holds nothing that outlives ctx.
func (l *Limiter) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	p, err := l.acquire(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	begun := false
	// A panic in the wire must not cost the place for good.
	defer func() { l.release(begun) }()

	estimate := l.estimate(req)
	if err := l.spread(ctx, p, estimate); err != nil {
		return deem.Reply{}, err
	}
	if err := over(ctx); err != nil {
		return deem.Reply{}, err
	}
	if err := l.fleetBegin(ctx, estimate); err != nil {
		return deem.Reply{}, err
	}
	l.begin(p)
	begun = true
	reply, err := l.inner.Complete(ctx, req)
	fatal(ctx, err) // before the place goes to another, who would ask in vain
	if l.fleet != nil {
		l.fleet.End(FleetCall{Estimate: int(estimate), Used: reply.Usage.Input + reply.Usage.Output})
	}
	l.settle(estimate, reply, err)
	l.learn(p, err)
	return reply, err
}

// acquire waits for a place, first come, first served. That holds for
// retries too: were they to go first, one item would use up its attempts while the
// others look on.
func (l *Limiter) acquire(ctx context.Context) (*place, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &place{}
	l.mu.Lock()
	// While a place is free nobody waits: admit fills them all.
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

// leave gives up waiting. If the place was granted in the meantime it goes to
// the next in line.
func (l *Limiter) leave(e *list.Element) {
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

// begin notes that a call is made now.
func (l *Limiter) begin(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calling++
	if l.requests != nil || l.tokens != nil {
		p.cut = l.level.cuts // it may have waited long since its place was granted
	}
}

// release frees a place.
func (l *Limiter) release(begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if begun {
		l.calling--
	}
	l.places--
	l.admit()
}

// grant gives p a place if there is one. The caller holds the lock.
func (l *Limiter) grant(p *place) bool {
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

// admit grants places to those who wait. The caller holds the lock.
func (l *Limiter) admit() {
	for e := l.waiting.Front(); e != nil; e = l.waiting.Front() {
		p := e.Value.(*place)
		if !l.grant(p) {
			return
		}
		l.waiting.Remove(e)
		close(p.granted)
	}
}

// pausing reports whether the vendor asked to be left alone. The caller holds the
// lock.
func (l *Limiter) pausing() bool {
	return !l.paused.IsZero() && time.Now().Before(l.paused)
}

// pause stops new calls for d. The caller holds the lock.
func (l *Limiter) pause(d time.Duration) {
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
		l.wake = time.AfterFunc(d, l.resume)
	} else {
		l.wake.Reset(d)
	}
}

// resume admits those who waited for a pause to end.
func (l *Limiter) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit()
}

// lift ends a pause early. The caller holds the lock, and admits.
func (l *Limiter) lift() {
	l.paused = time.Time{}
	l.wake.Stop()
}

// spread waits until the rates allow a call, and a pause that began meanwhile is
// over.
func (l *Limiter) spread(ctx context.Context, p *place, tokens float64) error {
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

// draw takes n tokens from b and waits until they are there. A caller that is
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

// learn adapts the level to the end of a call.
func (l *Limiter) learn(p *place, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after, sign := overload(err)
	switch {
	case sign == plain, sign == vague && l.suspect():
		if expected := l.level.refuse(p.cut, l.calling-1); !expected {
			l.pause(max(after, l.backoff()))
		}
	case err == nil:
		l.lonely, l.suspicion = 0, max(0, l.suspicion-forgotten)
		l.level.succeed(p.cut, l.places >= int(l.level.limit))
		l.probe(p)
	}
	// Other errors say nothing about how much the vendor bears.
	l.admit()
}

// backoff returns how long to wait after a refusal while no call is being served:
// without it all who wait would be refused one after the other, as fast as the
// vendor can say no. The caller holds the lock.
func (l *Limiter) backoff() time.Duration {
	if l.calling > 1 || l.pausing() {
		return 0
	}
	l.lonely++
	return min(maxBackoff, firstBackoff<<min(l.lonely-1, 10))
}

// probe ends a pause when a probe succeeded, and lets one go when another call did. The
// caller holds the lock.
func (l *Limiter) probe(p *place) {
	switch {
	case !l.pausing():
	case p.probe:
		l.lift()
	case l.probes < maxProbes && !l.probeFree:
		l.probes++
		l.probeFree = true
	}
}

// suspect counts a vague sign of overload, and reports whether there have been enough
// of them lately. The caller holds the lock.
func (l *Limiter) suspect() bool {
	l.suspicion++
	return l.suspicion >= suspicious
}

// A sign is what an error says about how much the vendor bears.
type sign int

const (
	none  sign = iota
	vague      // the vendor is in trouble, which may have nothing to do with us
	plain      // we ask too much
)

// overload returns what err says about how much the vendor bears, and how long it asks
// to be left alone.
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
