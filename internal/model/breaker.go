package model

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deem"
)

const (
	// maxFailures is the number of consecutive failed requests after which the run is
	// stopped.
	maxFailures = 20

	// maxSilence is the time without any success after which the run is stopped. It is for
	// servers that hang or are called slowly, where twenty failures would take hours. At
	// least twenty attempts or five requests must have failed by then.
	maxSilence = 5 * time.Minute

	// maxAbsence is the time after which the run is stopped if the server is unreachable
	// and has never answered. It allows for a server that is starting.
	maxAbsence = 5 * time.Second

	// wary is the number of consecutive failed requests after which requests are made one
	// at a time.
	wary = 5

	// plenty is the number of failed attempts that distinguishes an outage from isolated
	// failures.
	plenty = 20

	// convincing is the number of failed attempts after which a server counts as absent.
	convincing = 3
)

// A breaker is a model that stops the run if its vendor is out of service. See newBreaker.
type breaker struct {
	decorator
	onAbsence func(error) // may be nil

	mu      sync.Mutex
	streak  int           // failed requests since the last answer
	tries   int           // failed attempts since the last answer
	since   time.Time     // start of the first of them
	probing bool          // a single probe request is in flight
	changed chan struct{} // closed when a field above changes; nil if nobody waits
	broken  error         // the error that stopped the run; set before over is closed
	over    chan struct{} // closed when the run is stopped

	answered bool  // the server has answered at least once, even with an error
	absent   int   // attempts that found no server while answered is false
	news     error // the first of them, until it is reported
}

// newBreaker returns a model that distinguishes isolated failures from an outage. It wraps
// the retries: a failure it sees has already been retried as often as allowed.
//
// A failed request is a failure of its item, and the run continues with the next item.
// After five in a row, only one request at a time is made while the others wait for its
// result, so that an outage of a minute costs few items. After twenty in a row, or five
// minutes without an answer, the vendor is out of service: that request and all later ones
// end in a fatal error, which stops the run. Their items are not failures, but have no
// record yet.
//
// If the server is absent and has never answered (see [deem.ModelError]), the run is
// stopped after five seconds, or after one request that failed three times, before any item
// has failed.
//
// A fatal error of m, such as a rejected key, stops the run at once: no call begins after
// it, even if calls are waiting. A breaker never resumes.
//
// An error of one request, such as a prompt that is too long, counts as an answer: the
// server is there.
func newBreaker(m deem.Model, onAbsence func(error)) *breaker {
	return &breaker{decorator: decorator{m}, onAbsence: onAbsence, over: make(chan struct{})}
}

// Complete calls the model inside unless it is out of service.
func (b *breaker) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	probe, err := b.enter(ctx)
	if err != nil {
		return deem.Reply{}, err
	}
	if probe {
		defer func() { // on any outcome, another request may go
			b.mu.Lock()
			defer b.mu.Unlock()
			b.probing = false
			b.notify()
		}()
	}
	start := time.Now()
	reply, err := b.inner.Complete(context.WithValue(ctx, breakerKey{}, b), req)
	if err = b.learn(ctx, start, err); err != nil {
		b.announce()
		return deem.Reply{}, err
	}
	return reply, nil
}

// announce reports the news, if there are any.
func (b *breaker) announce() {
	b.mu.Lock()
	news := b.news
	b.news = nil
	b.mu.Unlock()
	if b.onAbsence != nil && news != nil {
		b.onAbsence(news)
	}
}

// enter waits until a request may be made, and reports whether it is a probe.
func (b *breaker) enter(ctx context.Context) (probe bool, err error) {
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

// notify wakes all waiters. The caller holds the lock.
func (b *breaker) notify() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// learn records the outcome of a request, and returns its error, or instead the error that
// stops the run.
func (b *breaker) learn(ctx context.Context, start time.Time, err error) error {
	if err != nil && ctx.Err() != nil || errors.Is(err, deem.ErrStopped) {
		return err // an interruption says nothing about the vendor
	}
	me, ok := errors.AsType[*deem.ModelError](err)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case ok && me.Fatal:
		b.stop(err)
		return err
	case !ok || !me.Passing:
		b.answered = b.answered || ok || err == nil
		if b.tries > 0 && b.broken == nil {
			b.streak, b.tries = 0, 0
			b.notify()
		}
		return err
	}
	b.streak++
	return b.failed(start, me, true)
}

// failed records a failed attempt, and returns its error or the error that stops the run.
// givenUp means that the request will not be retried. The caller holds the lock.
func (b *breaker) failed(start time.Time, me *deem.ModelError, givenUp bool) error {
	if b.broken != nil {
		return b.broken
	}
	if b.tries++; b.tries == 1 || start.Before(b.since) {
		b.since = start
	}
	lasted := time.Since(b.since)
	if b.isAbsent(me) && (b.absent >= convincing && lasted >= maxAbsence || givenUp && me.Attempts >= convincing) {
		// The wire's error says what to do about it.
		err := fmt.Errorf("no model answers: it was asked %d times in %v; the last time: %w", b.tries, lasted.Round(time.Second), me)
		b.stop(&deem.ModelError{Kind: me.Kind, Fatal: true, Absent: true, Attempts: me.Attempts, Err: err})
		return b.broken
	}
	outage := lasted >= maxSilence && (b.streak >= wary || b.tries >= plenty)
	if b.streak < maxFailures && !outage {
		return me
	}
	err := fmt.Errorf("the model is out of service: it was asked %d times in %v and did not answer once; the last time: %w",
		b.tries, lasted.Round(time.Second), me)
	b.stop(&deem.ModelError{Kind: me.Kind, Fatal: true, Attempts: me.Attempts, Err: deem.WithHint(err,
		"finished items are kept; run the same command again later, with --retry-unjudged to ask again about unjudged items")})
	return b.broken
}

// isAbsent reports whether the server was absent in this attempt and in all attempts before.
// The caller holds the lock.
func (b *breaker) isAbsent(me *deem.ModelError) bool {
	if !me.Absent {
		// A server that drops the connection or refuses is there. A timeout says nothing.
		b.answered = b.answered || me.Kind != deem.Timeout || me.Status != 0
		return false
	}
	if b.answered {
		return false
	}
	if b.absent++; b.absent == 1 {
		b.news = me
	}
	return true
}

// stop stops the run. The caller holds the lock.
func (b *breaker) stop(why error) {
	if b.broken == nil {
		b.broken = why
		close(b.over)
		b.notify()
	}
}

type breakerKey struct{}

// attempted reports a failed attempt that may be retried to the breaker of ctx, if there is
// one. It returns the error that stops the run, or nil.
func attempted(ctx context.Context, start time.Time, err error) error {
	b, ok := ctx.Value(breakerKey{}).(*breaker)
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

// stopped returns a channel that is closed when the breaker of ctx stops the run, and a
// function that returns the error, valid once the channel is closed. Callers that wait to
// make a call select on it: calls that have begun may finish, and no other begins. The
// channel is nil if there is no breaker.
func stopped(ctx context.Context) (over <-chan struct{}, why func() error) {
	b, ok := ctx.Value(breakerKey{}).(*breaker)
	if !ok {
		return nil, nil
	}
	return b.over, func() error { return b.broken }
}

// over returns the error with which the breaker of ctx stopped the run, or nil.
func over(ctx context.Context) error {
	over, why := stopped(ctx)
	select {
	case <-over:
		return why()
	default:
		return nil
	}
}

// fatal makes the breaker of ctx stop the run if err means that no call can succeed.
func fatal(ctx context.Context, err error) {
	me, ok := errors.AsType[*deem.ModelError](err)
	if b, guarded := ctx.Value(breakerKey{}).(*breaker); ok && guarded && me.Fatal {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.stop(err)
	}
}
