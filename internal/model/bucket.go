package model

import (
	"math"
	"sync"
	"time"
)

// A bucket is a token bucket: it fills at a steady rate up to a brim, and tokens are drawn
// in advance. Package x/time/rate does not fit, because tokens are also given back: a call
// that used less than estimated returns the rest, and each request pays into the retry
// budget.
type bucket struct {
	capacity  float64
	perSecond float64

	mu    sync.Mutex
	level float64 // negative if tokens are promised that have yet to flow in
	last  time.Time
}

// newBucket returns a full bucket.
func newBucket(capacity, perSecond float64) *bucket {
	return &bucket{capacity: capacity, perSecond: perSecond, level: capacity}
}

// take draws n tokens and returns how long to wait until they have flowed in. If that is
// longer than patience, it draws nothing and returns false.
//
// If n exceeds the brim, it waits only until the bucket is full and leaves a debt;
// otherwise such a request could never be made.
func (b *bucket) take(n float64, patience time.Duration) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flow(time.Now())
	need := min(n, b.capacity) - b.level
	var wait time.Duration
	if need > 0 {
		wait = math.MaxInt64 // if the number of seconds does not fit
		if d := need / b.perSecond * float64(time.Second); d < math.MaxInt64 {
			wait = time.Duration(d)
		}
	}
	if wait > patience {
		return wait, false
	}
	b.level -= n
	return wait, true
}

// give puts n tokens back; a negative n takes more without waiting.
func (b *bucket) give(n float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flow(time.Now())
	b.level = min(b.capacity, b.level+n)
}

// flow adds the tokens that have flowed in since the last call.
func (b *bucket) flow(now time.Time) {
	if !b.last.IsZero() {
		b.level = min(b.capacity, b.level+now.Sub(b.last).Seconds()*b.perSecond)
	}
	b.last = now
}
