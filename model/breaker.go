package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deem"
)

// breakOptions say how much trouble newBreaker takes.
type breakOptions struct {
	// Failures is how many requests in a row may be given up, none succeeding in
	// between, before the run is stopped; 0 means 20.
	Failures int

	// Patience is for how long nothing but failures may come before the run is
	// stopped; 0 means five minutes. It is for servers that hang or that are
	// asked slowly, of which twenty failures take hours. Twenty attempts at least
	// must have failed by then, or five requests.
	Patience time.Duration

	// Absence is for how long nobody may be there before the run is stopped, if nobody
	// ever answered; 0 means five seconds. A server that is being started takes some.
	Absence time.Duration
}

const (
	// wary is the number of requests given up in a row after which they go one
	// by one.
	wary = 5

	// plenty is the number of failed attempts that tell an outage from bad luck.
	plenty = 20

	// convincing is the number of failed attempts after which nobody is there.
	convincing = 3
)

// A Breaker is a model that stops the run when its vendor is out of service. See
// newBreaker.
type Breaker struct {
	inner deem.Model
	o     breakOptions

	mu      sync.Mutex
	streak  int           // requests given up since the last that was answered
	tries   int           // attempts that failed since then
	since   time.Time     // when the first of them began
	probing bool          // a request is on its way alone
	changed chan struct{} // closed when one of the above changes; nil when nobody waits
	broken  error         // what stopped the run; set before over is closed
	over    chan struct{} // closed when the run is stopped

	heard     bool        // somebody answered, whatever it was
	absent    int         // attempts that found nobody while that is not so
	news      error       // the first of them, until it is told
	onAbsence func(error) // whom to tell; nil for nobody
}

var (
	_ deem.Model = (*Breaker)(nil)
	_ Wrapper    = (*Breaker)(nil)
)

// newBreaker returns a model that tells an item's bad luck from an outage. It stands
// outside the retries: what it sees fail was tried again as often as it may be.
//
// A request that is given up is a failure of its item, and the next item is asked
// about. After five in a row only one request at a time is made, and the others wait
// for what comes of it, so that an outage of a minute costs few items. After twenty
// in a row, or five minutes without an answer, the vendor is out of service: that
// request and all later ones end in a fatal error, which stops the run. Its items
// are then not failures but simply not done.
//
// Where nobody is there at all and nobody ever was (see [deem.ModelError]), five seconds
// are enough to know, or a request that was given up after three attempts: the run is then
// stopped before any item has failed for it.
//
// A fatal error of m, as a key that is not accepted, stops the run at once: no call
// begins after it, however many wait. A model that was stopped stays so.
//
// An error that belongs to one request, as a prompt that is too long, is an answer
// too: somebody is there.
func newBreaker(m deem.Model, o breakOptions) *Breaker {
	if o.Failures <= 0 {
		o.Failures = 20
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Minute
	}
	if o.Absence <= 0 {
		o.Absence = 5 * time.Second
	}
	return &Breaker{inner: m, o: o, over: make(chan struct{})}
}

// Name returns the name of the model inside.
func (b *Breaker) Name() string { return b.inner.Name() }

// Unwrap returns the model inside.
func (b *Breaker) Unwrap() deem.Model { return b.inner }

// Complete asks the model inside unless it is out of service.
func (b *Breaker) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	probe, err := b.enter(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	if probe {
		defer b.probed() // however it ends, another must be able to go
	}
	start := time.Now()
	reply, err := b.inner.Complete(context.WithValue(ctx, breakerKey{}, b), req)
	if err = b.learn(ctx, start, err); err != nil {
		b.announce()
		return deem.Reply{}, err
	}
	return reply, nil
}

// OnAbsence has f told, once and at once, of the first error that says that nobody is
// there, while nobody ever answered. Retries hide it from everybody else for a while.
func (b *Breaker) OnAbsence(f func(error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.onAbsence = f
}

// announce tells the news, if there are any.
func (b *Breaker) announce() {
	b.mu.Lock()
	f, news := b.onAbsence, b.news
	b.news = nil
	b.mu.Unlock()
	if f != nil && news != nil {
		f(news)
	}
}

// enter waits until a request may be made, and reports whether it goes alone.
func (b *Breaker) enter(ctx context.Context) (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.broken != nil:
			return false, b.broken
		case b.streak < wary:
			return false, nil
		case !b.probing:
			b.probing = true
			return true, nil
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-deem.Stopping(ctx):
			err = deem.ErrStopped
		case <-ctx.Done():
			err = ctx.Err()
		}
		b.mu.Lock()
		if err != nil {
			return false, err
		}
	}
}

// probed lets another request go.
func (b *Breaker) probed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
	b.tell()
}

// tell wakes those who wait. The caller holds the lock.
func (b *Breaker) tell() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// learn counts how a request ended, and returns its error, or the one that stops the
// run in its place.
func (b *Breaker) learn(ctx context.Context, start time.Time, err error) error {
	if err != nil && ctx.Err() != nil || errors.Is(err, deem.ErrStopped) {
		return err // interrupted, which says nothing about the vendor
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case ok && me.Fatal:
		b.stop(err)
		return err
	case !ok || !me.Passing:
		b.heard = b.heard || ok || err == nil
		if b.tries > 0 && b.broken == nil {
			b.streak, b.tries = 0, 0
			b.tell()
		}
		return err
	}
	b.streak++
	return b.failed(start, me, true)
}

// failed counts an attempt that failed, for good if its request was given up, and returns
// its error, or the one that stops the run. The caller holds the lock.
func (b *Breaker) failed(start time.Time, me *deem.ModelError, givenUp bool) error {
	if b.broken != nil {
		return b.broken
	}
	if b.tries++; b.tries == 1 || start.Before(b.since) {
		b.since = start
	}
	lasted := time.Since(b.since)
	if b.nobody(me) && (b.absent >= convincing && lasted >= b.o.Absence || givenUp && me.Attempts >= convincing) {
		b.stop(nobodyThere(b.tries, lasted, me))
		return b.broken
	}
	outage := lasted >= b.o.Patience && (b.streak >= wary || b.tries >= plenty)
	if b.streak < b.o.Failures && !outage {
		return me
	}
	b.stop(outOfService(b.tries, lasted, me))
	return b.broken
}

// nobody reports whether an attempt found nobody there, as all others before it. The
// caller holds the lock.
func (b *Breaker) nobody(me *deem.ModelError) bool {
	if !me.Absent {
		// A server that breaks off or says no is there. A call that timed out tells nothing.
		b.heard = b.heard || me.Kind != deem.Timeout || me.Status != 0
		return false
	}
	if b.heard {
		return false
	}
	if b.absent++; b.absent == 1 {
		b.news = me
	}
	return true
}

// stop stops the run. The caller holds the lock.
func (b *Breaker) stop(why error) {
	if b.broken == nil {
		b.broken = why
		close(b.over)
		b.tell()
	}
}

type breakerKey struct{}

// attempted tells the breaker of ctx, if there is one, of an attempt that failed and
// may be made again. It returns the error that stops the run, or nil.
func attempted(ctx context.Context, start time.Time, err error) error {
	b, ok := ctx.Value(breakerKey{}).(*Breaker)
	me, isModel := errors.AsType[*deem.ModelError](err)
	if !ok || !isModel {
		return nil
	}
	b.mu.Lock()
	_ = b.failed(start, me, false)
	broken := b.broken
	b.mu.Unlock()
	b.announce()
	return broken
}

// stopped returns a channel that is closed when the breaker of ctx stops the run, and
// the error to return then, which is there as soon as the channel is closed. A caller that
// waits to make a call looks at it: calls that have begun may finish, and no other
// begins. The channel is nil when there is no breaker.
func stopped(ctx context.Context) (over <-chan struct{}, why func() error) {
	b, ok := ctx.Value(breakerKey{}).(*Breaker)
	if !ok {
		return nil, nil
	}
	return b.over, func() error { return b.broken }
}

// over returns the error with which the breaker of ctx stopped the run, nil while it
// goes on.
func over(ctx context.Context) error {
	over, why := stopped(ctx)
	select {
	case <-over:
		return why()
	default:
		return nil
	}
}

// fatal has the breaker of ctx stop the run if err says that no call can succeed.
func fatal(ctx context.Context, err error) {
	if err == nil {
		return
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	if b, guarded := ctx.Value(breakerKey{}).(*Breaker); ok && guarded && me.Fatal {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.stop(err)
	}
}

// outOfService is the error that stops the run.
func outOfService(attempts int, lasted time.Duration, last *deem.ModelError) error {
	err := fmt.Errorf("the model is out of service: it was asked %d times in %v and did not answer once; the last time: %w",
		attempts, lasted.Round(time.Second), last)
	return &deem.ModelError{Kind: last.Kind, Fatal: true, Attempts: last.Attempts, Err: deem.WithHint(err,
		"finished items are kept; run the same command again later, with --retry-unjudged to include the items that were given up")}
}

// nobodyThere is the error that stops a run which has nobody to ask. What to do about it
// is what the wire says.
func nobodyThere(attempts int, lasted time.Duration, last *deem.ModelError) error {
	err := fmt.Errorf("no model answers: it was asked %d times in %v; the last time: %w", attempts, lasted.Round(time.Second), last)
	if deem.HintOf(err) == "" {
		err = deem.WithHint(err, "check the base URL; deem doctor --model tells server, key and name apart")
	}
	return &deem.ModelError{Kind: last.Kind, Fatal: true, Absent: true, Attempts: last.Attempts, Err: err}
}
