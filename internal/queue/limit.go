package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"deem/model"
)

const (
	// late is how much too late a promised time may be used. A worker that stood still for
	// longer asks again, or it would make up for it in a burst.
	late = 300 * time.Millisecond

	// farthest is how far ahead times are promised: a run that is halted meanwhile does not
	// keep the others waiting for longer.
	farthest = time.Second

	// margin keeps the pace a little below what the user allows, since a call reaches the
	// vendor a little later than it was meant to, and not always by as much.
	margin = 0.99
)

// A limit keeps the calls of a worker to what the run allows all workers together. It is
// the [model.Fleet] of a model. Requests and tokens a minute are times on a line that is
// kept in one row of the database: a worker that wants to make calls moves the end of the line
// by as many as it wants to make now, and makes them at these times. Nothing is saved up,
// so nothing can burst. How much the vendor itself bears each worker learns on its own, as
// a single process does ([model.Limit]).
type limit struct {
	c        *Control
	key      string
	gap      time.Duration // between two requests; 0 is not a bound
	perToken time.Duration // 0 is not a bound
	share    *share        // of the calls at once; nil when they are not bounded
	line     batch[int, time.Time]

	mu     sync.Mutex
	credit int // tokens that were promised and not used
}

var _ model.Fleet = (*limit)(nil)

// newLimit returns what keeps a worker to the limits of a model at its address.
func (c *Control) newLimit(m Model, o Options, s *share) *limit {
	l := &limit{c: c, key: m.Name + " " + m.Endpoint, share: s}
	perMinute := func(n int) time.Duration {
		if n <= 0 {
			return 0
		}
		return time.Duration(float64(time.Minute) / (float64(n) * margin))
	}
	l.gap, l.perToken = perMinute(o.RPM), perMinute(o.TPM)
	l.line.ask = l.promise
	return l
}

// Begin implements [model.Fleet].
func (l *limit) Begin(ctx context.Context, tokens int) error {
	if l.share != nil {
		if err := l.share.acquire(ctx); err != nil {
			return err
		}
	}
	err := l.wait(ctx, tokens)
	if err != nil && l.share != nil {
		l.share.release()
	}
	return err
}

// wait waits for the time at which a call may begin.
func (l *limit) wait(ctx context.Context, tokens int) error {
	for l.gap > 0 || l.perToken > 0 {
		at, err := l.line.get(ctx, tokens)
		if err == nil && !at.IsZero() {
			err = wait(ctx, time.Until(at))
			if err == nil && time.Since(at) < late {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// End implements [model.Fleet].
func (l *limit) End(c model.FleetCall) {
	if l.share != nil {
		l.share.release()
	}
	if l.perToken > 0 && (c.Used > 0 || c.Unmade) {
		l.mu.Lock()
		l.credit += c.Estimate - c.Used
		l.mu.Unlock()
	}
}

// promise returns when calls of so many tokens each may begin. A zero time means that the
// caller has to ask again: the line is long, or the database does not answer.
func (l *limit) promise(calls []int) []time.Time {
	l.mu.Lock()
	credit := l.credit
	l.mu.Unlock()
	// What earlier calls did not use of their estimates is used at once, since its time is
	// past. So that this does not become a burst it is no more than two calls use.
	credit = min(credit, 2*slices.Max(calls))
	n, tokens := 0, -credit
	for n < len(calls) && (n == 0 || time.Duration(n)*l.gap < farthest && time.Duration(tokens)*l.perToken < farthest) {
		tokens += calls[n]
		n++
	}
	times := make([]time.Time, len(calls))
	requestsAt, tokensAt, err := l.extend(time.Duration(n)*l.gap, time.Duration(max(0, tokens))*l.perToken)
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return times
	}
	l.mu.Lock()
	l.credit = min(l.credit-credit, 0)
	l.mu.Unlock()
	before := -credit
	for i, tokens := range calls[:n] {
		times[i] = later(requestsAt.Add(time.Duration(i)*l.gap), tokensAt.Add(time.Duration(max(0, before))*l.perToken))
		before += tokens
	}
	return times
}

// extend moves the ends of the lines, and returns where they were, by the clock of this
// process. It is an error when they are too far ahead already.
func (l *limit) extend(requests, tokens time.Duration) (requestsAt, tokensAt time.Time, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	var now time.Time
	err = l.c.pool.QueryRow(ctx, `INSERT INTO queue_limits AS l (key, requests, tokens)
		VALUES ($1, clock_timestamp() + $2::interval, clock_timestamp() + $3::interval) ON CONFLICT (key) DO UPDATE SET
		requests = greatest(l.requests, clock_timestamp()) + $2::interval, tokens = greatest(l.tokens, clock_timestamp()) + $3::interval
		WHERE ($2::interval = '0' OR l.requests < clock_timestamp() + $4::interval) AND ($3::interval = '0' OR l.tokens < clock_timestamp() + $4::interval)
		RETURNING requests - $2::interval, tokens - $3::interval, clock_timestamp()`, l.key, requests, tokens, farthest).
		Scan(&requestsAt, &tokensAt, &now)
	skew := time.Since(now)
	return requestsAt.Add(skew), tokensAt.Add(skew), err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wait sleeps, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
