package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deem"
)

// BreakOptions say how much trouble [Break] takes.
type BreakOptions struct {
	// Failures is how many requests in a row may be given up, none succeeding in
	// between, before the run is stopped; 0 means 20.
	Failures int

	// Patience is for how long nothing but failures may come before the run is
	// stopped; 0 means five minutes. It is for servers that hang or that are
	// asked slowly, of which twenty failures take hours. Twenty attempts at least
	// must have failed by then, or five requests.
	Patience time.Duration
}

const (
	// wary is the number of requests given up in a row after which they go one
	// by one.
	wary = 5

	// plenty is the number of failed attempts that tell an outage from bad luck.
	plenty = 20
)

// A Breaker is a model that stops the run when its vendor is out of service. See
// [Break].
type Breaker struct {
	inner deem.Model
	o     BreakOptions

	mu      sync.Mutex
	streak  int           // requests given up since the last that was answered
	tries   int           // attempts that failed since then
	since   time.Time     // when the first of them began
	probing bool          // a request is on its way alone
	changed chan struct{} // closed when one of the above changes; nil when nobody waits
	broken  error         // what stopped the run; set before over is closed
	over    chan struct{} // closed when the run is stopped
}

var (
	_ deem.Model = (*Breaker)(nil)
	_ Wrapper    = (*Breaker)(nil)
)

// Break returns a model that tells an item's bad luck from an outage. It stands
// outside the retries: what it sees fail was tried again as often as it may be.
//
// A request that is given up is a failure of its item, and the next item is asked
// about. After five in a row only one request at a time is made, and the others wait
// for what comes of it, so that an outage of a minute costs few items. After twenty
// in a row, or five minutes without an answer, the vendor is out of service: that
// request and all later ones end in a fatal error, which stops the run. Its items
// are then not failures but simply not done.
//
// A fatal error of m, as a key that is not accepted, stops the run at once: no call
// begins after it, however many wait. A model that was stopped stays so.
//
// An error that belongs to one request, as a prompt that is too long, is an answer
// too: somebody is there.
func Break(m deem.Model, o BreakOptions) *Breaker {
	if o.Failures <= 0 {
		o.Failures = 20
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Minute
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
		return deem.Reply{}, err
	}
	return reply, nil
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
		if b.tries > 0 && b.broken == nil {
			b.streak, b.tries = 0, 0
			b.tell()
		}
		return err
	}
	b.streak++
	return b.failed(start, me)
}

// failed counts an attempt that failed for good or for now, and returns its error, or
// the one that stops the run. The caller holds the lock.
func (b *Breaker) failed(start time.Time, me *deem.ModelError) error {
	if b.broken != nil {
		return b.broken
	}
	if b.tries++; b.tries == 1 || start.Before(b.since) {
		b.since = start
	}
	lasted := time.Since(b.since)
	outage := lasted >= b.o.Patience && (b.streak >= wary || b.tries >= plenty)
	if b.streak < b.o.Failures && !outage {
		return me
	}
	b.stop(outOfService(b.tries, lasted, me))
	return b.broken
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
	defer b.mu.Unlock()
	_ = b.failed(start, me)
	return b.broken
}

// stopped returns a channel that is closed when the breaker of ctx stops the run, and
// the error to return then, which is there as soon as the channel is closed. Whoever
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
		"what was judged is kept, and the same command goes on later, with --retry-unjudged also about the items that were given up")}
}
