package queue

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"deem/model"
)

const (
	// late is how much too late a reserved place may be used. A worker that stood still
	// for longer loses it, or it would make up for it in a burst.
	late = 300 * time.Millisecond

	// freely is for how long a worker that is not bounded does not ask again.
	freely = time.Second

	// tellAgain is how long a worker that has places keeps more refusals to itself.
	tellAgain = 200 * time.Millisecond

	// aim is how long what is reserved at once should last.
	aim = time.Second
)

// A limit is the share that this worker has in the pace of one model. It is the
// [model.Fleet] of that model.
type limit struct {
	reserve  func(context.Context, wish) (grant, time.Time, error) // takes a wish to the pace, and returns its time
	rpm, tpm int
	share    *share // of the calls at once; nil when they are not bounded

	lock chan struct{} // holds one who has the fields below; a wait for it can be given up

	grant  grant // what is left of it
	until  time.Time
	closed time.Time // before which there are no more places
	size   int       // how many requests are reserved at once
	asked  time.Time
	told   time.Time // the last time that it told what it saw
	tokens float64   // of a call, on average
	credit int       // tokens that calls did not use

	mu         sync.Mutex
	sent       int
	refused    int
	refusedAt  time.Time // the last time
	retryAfter time.Duration
	used       int // tokens less than were estimated
}

var _ model.Fleet = (*limit)(nil)

// newLimit returns the share of one worker in a model at its address.
func (c *Control) newLimit(ctx context.Context, m Model, o Options, s *share) (*limit, error) {
	key := m.Name + " " + m.Endpoint
	_, err := c.pool.Exec(ctx, `INSERT INTO queue_limits (key) VALUES ($1) ON CONFLICT DO NOTHING`, key)
	reserve := func(ctx context.Context, w wish) (grant, time.Time, error) { return c.reserve(ctx, key, w) }
	return &limit{reserve: reserve, rpm: o.RPM, tpm: o.TPM, share: s, size: 1, lock: make(chan struct{}, 1)}, err
}

// Begin implements [model.Fleet].
func (l *limit) Begin(ctx context.Context, tokens int) error {
	if l.share != nil {
		if err := l.share.acquire(ctx); err != nil {
			return err
		}
	}
	err := l.begin(ctx, tokens)
	if err != nil && l.share != nil {
		l.share.release()
	}
	return err
}

func (l *limit) begin(ctx context.Context, tokens int) error {
	for {
		select {
		case l.lock <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := l.tell(ctx)
		at, ok := l.next(time.Now(), tokens)
		if !ok && !l.closing() {
			err = l.refill(ctx, tokens)
		}
		closed := l.closed
		<-l.lock
		switch {
		case ok:
			if err := wait(ctx, time.Until(at)); err != nil {
				return err
			}
			l.mu.Lock()
			l.sent++
			l.mu.Unlock()
			return nil
		case err != nil:
			// The server restarts. Nobody knows what the others do, so nobody calls.
			if err := wait(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		default:
			if err := wait(ctx, time.Until(closed)); err != nil {
				return err
			}
		}
	}
}

// closing reports whether there are no places to be had yet. The caller has the lock.
func (l *limit) closing() bool { return time.Now().Before(l.closed) }

// End implements [model.Fleet].
func (l *limit) End(c model.FleetCall) {
	if l.share != nil {
		l.share.release()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Refused {
		l.refused, l.refusedAt = l.refused+1, time.Now()
		l.retryAfter = max(l.retryAfter, c.RetryAfter)
	}
	if c.Used > 0 || c.Unmade {
		l.used += c.Estimate - c.Used
	}
}

// next returns when a call may begin by what was granted. The caller has the lock.
func (l *limit) next(now time.Time, tokens int) (time.Time, bool) {
	g := &l.grant
	l.mu.Lock()
	refused := l.refused
	l.mu.Unlock()
	if g.free && (refused > 0 || now.After(l.until)) {
		return time.Time{}, false // It has something to tell, or asked too long ago.
	}
	at := now
	if !g.free {
		for g.requests > 0 && g.from.Before(now.Add(-late)) {
			g.requests--
			g.from = g.from.Add(g.gap)
			l.size = max(1, l.size-1)
		}
		if g.requests == 0 {
			return time.Time{}, false
		}
		at = g.from
	}
	if g.bounded {
		g.loseTokens(now.Add(-late))
		credit := min(l.credit, tokens)
		if tokens-credit > g.tokens {
			return time.Time{}, false
		}
		if tokens -= credit; tokens > 0 {
			at = later(at, g.tokensAt)
		}
		l.credit -= credit
		g.tokens -= tokens
		g.tokensAt = g.tokensAt.Add(seconds(float64(tokens) * g.tokensGap))
	}
	if !g.free {
		g.requests--
		g.from = g.from.Add(g.gap)
	}
	return later(at, g.paused), true
}

// loseTokens lets go of tokens that should have been used before a time.
func (g *grant) loseTokens(before time.Time) {
	if lost := before.Sub(g.tokensAt).Seconds() / g.tokensGap; lost > 0 {
		g.tokens = max(0, g.tokens-int(lost))
		g.tokensAt = before
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// tell tells of refusals while there are places left, which telling must not cost: the line
// has gone on behind them. When the vendor wants a pause, or far fewer calls, they are
// given up. The caller has the lock.
func (l *limit) tell(ctx context.Context) error {
	l.mu.Lock()
	news := l.refused > 0
	l.mu.Unlock()
	if !news || l.grant.free || l.grant.requests == 0 && !l.closing() || time.Since(l.told) < tellAgain {
		return nil
	}
	g, dbNow, err := l.ask(ctx, wish{rpm: l.rpm, tpm: l.tpm})
	if err == nil && (g.paused.After(dbNow) || g.gap > l.grant.gap*4/3) {
		l.grant.requests = 0
	}
	return err
}

// ask takes a wish to the pace, with what was seen since the last one. The caller has the
// lock.
func (l *limit) ask(ctx context.Context, w wish) (grant, time.Time, error) {
	l.mu.Lock()
	w.sent, w.refused, w.retryAfter = l.sent, l.refused, l.retryAfter
	if w.refused > 0 {
		w.ago = time.Since(l.refusedAt)
	}
	l.sent, l.refused, l.retryAfter = 0, 0, 0
	l.mu.Unlock()
	l.told = time.Now()
	g, dbNow, err := l.reserve(ctx, w)
	if err != nil {
		l.mu.Lock()
		l.sent, l.refused, l.retryAfter = l.sent+w.sent, l.refused+w.refused, max(l.retryAfter, w.retryAfter)
		l.mu.Unlock()
	}
	return g, dbNow, err
}

// refill reserves more. The caller has the lock.
func (l *limit) refill(ctx context.Context, tokens int) error {
	now, size := time.Now(), l.size
	if took := now.Sub(l.asked); took < aim*7/10 {
		l.size *= 2
	} else if took > 2*aim {
		l.size = max(1, l.size/2)
	}
	l.asked = now
	l.tokens += (float64(tokens) - l.tokens) / 4
	w := wish{requests: l.size, rpm: l.rpm, tpm: l.tpm, tokens: max(tokens, int(l.tokens*float64(l.size)))}
	l.mu.Lock()
	// What earlier calls did not use of their estimates is used first, at once, since its
	// time is past. So that this does not become a burst it is no more than two calls use.
	// What calls used beyond is missing.
	l.credit, l.used = min(l.credit+l.used, 2*max(tokens, int(l.tokens))), 0
	l.mu.Unlock()
	left := l.grant.tokens
	w.tokens = max(1, w.tokens-l.credit-left)
	g, dbNow, err := l.ask(ctx, w)
	if err != nil {
		return err
	}
	// The places are in the server's time. Its clock may differ from ours.
	skew := time.Since(dbNow)
	if !g.free && g.requests == 0 {
		l.closed, l.size = g.from.Add(skew-farthest), size
		return nil
	}
	g.from, g.tokensAt, g.paused = g.from.Add(skew), g.tokensAt.Add(skew), g.paused.Add(skew)
	if g.bounded {
		// What is left of the last grant comes before this one on the line.
		g.tokens += left
		g.tokensAt = g.tokensAt.Add(-seconds(float64(left) * g.tokensGap))
	}
	l.grant, l.until = g, time.Now().Add(freely)
	l.size = min(l.size, max(1, g.requests*2))
	return nil
}

// reserve takes a wish to the row of a model.
func (c *Control) reserve(ctx context.Context, key string, w wish) (g grant, now time.Time, err error) {
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		var text string
		err := tx.QueryRow(ctx, `SELECT state, clock_timestamp() FROM queue_limits WHERE key = $1 FOR UPDATE`, key).Scan(&text, &now)
		if err != nil {
			return err
		}
		// The time before the lock was had does not count.
		if err := tx.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
			return err
		}
		var p pace
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return err
		}
		g = p.take(now, w)
		state, err := json.Marshal(p)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE queue_limits SET state = $2, updated = now() WHERE key = $1`, key, string(state))
		return err
	})
	return g, now, err
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
