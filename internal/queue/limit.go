package queue

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// late is how long after a promised time a call may still begin. A worker that was
	// stalled for longer asks for a new time; otherwise it would catch up in a burst.
	late = 300 * time.Millisecond

	// farthest is how far ahead times are promised. It limits how long the times of a
	// halted run delay others.
	farthest = time.Second

	// margin keeps the pace slightly below the user's limit, because calls reach the vendor
	// with a small, varying delay.
	margin = 0.99
)

// A limit keeps the calls of a worker within the limits that a run sets for all workers
// together. It is the fleet of [model.LimitOptions]. Requests and tokens per minute are
// timelines whose ends are stored in one row of the database: a worker moves the ends
// forward by the calls it wants to make now, and makes them at the times in between. Unused
// time is not saved up, so there are no bursts. Each worker learns the vendor's own limits
// separately, as a single process does ([model.LimitOptions]).
type limit struct {
	c        *Control
	key      string
	gap      time.Duration // between two requests; 0 means no limit
	perToken time.Duration // 0 means no limit
	share    *share        // of the concurrent calls; nil if they are not limited
	line     batch[int, time.Time]

	mu     sync.Mutex
	credit int // promised but not used
}

// newLimit returns the limit for calls of a model at its address.
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

// Begin is part of the fleet of [model.LimitOptions].
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

// wait waits until a call may begin.
func (l *limit) wait(ctx context.Context, tokens int) error {
	for l.gap > 0 || l.perToken > 0 {
		at, err := l.line.get(ctx, tokens)
		if err != nil {
			return err
		}
		if at.IsZero() {
			continue
		}
		if err := wait(ctx, time.Until(at)); err != nil || time.Since(at) < late {
			return err
		}
	}
	return ctx.Err()
}

// End is part of the fleet of [model.LimitOptions].
func (l *limit) End(estimate, used int) {
	if l.share != nil {
		l.share.release()
	}
	if l.perToken > 0 {
		l.mu.Lock()
		l.credit += estimate - used
		l.mu.Unlock()
	}
}

// promise returns the times at which calls with the given numbers of tokens may begin. A
// zero time means that the caller must ask again: the line is long, or the database does
// not answer.
func (l *limit) promise(calls []int) []time.Time {
	l.mu.Lock()
	credit := l.credit
	l.mu.Unlock()
	// Tokens that earlier calls left unused are available at once, because their time has
	// passed. To avoid a burst, use at most as many as two calls need.
	credit = min(credit, 2*slices.Max(calls))
	n, tokens := 0, -credit
	for n < len(calls) && (n == 0 || time.Duration(n)*l.gap < farthest && time.Duration(tokens)*l.perToken < farthest) {
		tokens += calls[n]
		n++
	}
	times := make([]time.Time, len(calls))
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	// Move the ends of the lines forward, and get their previous positions. There is no row
	// if they are too far ahead.
	var requestsAt, tokensAt, now time.Time
	err := l.c.pool.QueryRow(ctx, `INSERT INTO queue_limits AS l (key, requests, tokens)
		VALUES ($1, clock_timestamp() + $2::interval, clock_timestamp() + $3::interval) ON CONFLICT (key) DO UPDATE SET
		requests = greatest(l.requests, clock_timestamp()) + $2::interval, tokens = greatest(l.tokens, clock_timestamp()) + $3::interval
		WHERE ($2::interval = '0' OR l.requests < clock_timestamp() + $4::interval) AND ($3::interval = '0' OR l.tokens < clock_timestamp() + $4::interval)
		RETURNING requests - $2::interval, tokens - $3::interval, clock_timestamp()`,
		l.key, time.Duration(n)*l.gap, time.Duration(max(0, tokens))*l.perToken, farthest).Scan(&requestsAt, &tokensAt, &now)
	if err != nil {
		time.Sleep(100 * time.Millisecond)
		return times
	}
	skew := time.Since(now) // between the clocks of the server and this process
	l.mu.Lock()
	l.credit = min(l.credit-credit, 0)
	l.mu.Unlock()
	before := -credit
	for i, tokens := range calls[:n] {
		times[i] = requestsAt.Add(skew + time.Duration(i)*l.gap)
		if at := tokensAt.Add(skew + time.Duration(max(0, before))*l.perToken); at.After(times[i]) {
			times[i] = at
		}
		before += tokens
	}
	return times
}

// wait sleeps for d, or until ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
