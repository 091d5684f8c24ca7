package server

import (
	"sync"
	"time"
)

// An address may send maxMisses wrong tokens per missWindow. At most maxAddresses are
// tracked; further addresses share one counter, so that an attacker with many addresses
// gains little and memory stays bounded.
const (
	maxMisses    = 10
	missWindow   = time.Minute
	maxAddresses = 10_000
)

// A throttle counts wrong tokens by address.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	seen  map[string]missed
	swept time.Time // when expired entries were last removed
}

// missed counts the wrong tokens of one address since a time.
type missed struct {
	since time.Time
	n     int
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, seen: map[string]missed{}}
}

// wait returns how long an address must wait before it may try again, or 0.
func (t *throttle) wait(addr string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.seen[t.slot(addr)]
	if m.n < maxMisses {
		return 0
	}
	return max(0, missWindow-t.now().Sub(m.since))
}

// miss counts a wrong token.
func (t *throttle) miss(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := t.slot(addr)
	m := t.seen[slot]
	if t.now().Sub(m.since) >= missWindow {
		m = missed{since: t.now()}
	}
	m.n++
	t.seen[slot] = m
}

// slot returns the key under which an address is counted. The caller holds the lock.
func (t *throttle) slot(addr string) string {
	if _, known := t.seen[addr]; known || len(t.seen) < maxAddresses {
		return addr
	}
	if now := t.now(); now.Sub(t.swept) >= missWindow/10 { // Do not sweep at every guess.
		t.swept = now
		for a, m := range t.seen {
			if now.Sub(m.since) >= missWindow {
				delete(t.seen, a)
			}
		}
	}
	if len(t.seen) < maxAddresses {
		return addr
	}
	return "" // All further addresses.
}
