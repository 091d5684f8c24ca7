package model

import (
	"math"
	"sync"
	"time"
)

// A bucket holds tokens: it fills at a steady rate up to a brim, and is drawn
// from in advance. It is a bucket of our own, and not that of x/time/rate,
// because tokens are also given back: a call that used less than it was thought
// to leaves the rest to others, and each request pays into the budget of the
// retries.
type bucket struct {
	brim      float64
	perSecond float64

	mu    sync.Mutex
	level float64 // below 0 when tokens are promised that have yet to flow in
	last  time.Time
}

// newBucket returns a full bucket.
func newBucket(brim, perSecond float64) *bucket {
	return &bucket{brim: brim, perSecond: perSecond, level: brim}
}

// take draws n tokens and returns how long to wait until they have flowed in. If
// that is longer than patience, it draws nothing and returns false.
//
// More than the bucket can ever hold waits only until it is full, and leaves a
// debt behind: otherwise a request larger than the brim could never be made.
func (b *bucket) take(n float64, patience time.Duration) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flow(time.Now())
	need := min(n, b.brim) - b.level
	var wait time.Duration
	if need > 0 {
		wait = seconds(need / b.perSecond)
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
	b.level = min(b.brim, b.level+n)
}

// flow lets in what has come since the last time.
func (b *bucket) flow(now time.Time) {
	if !b.last.IsZero() {
		b.level = min(b.brim, b.level+now.Sub(b.last).Seconds()*b.perSecond)
	}
	b.last = now
}

// seconds returns s seconds as a duration, and the longest one where s does not
// fit.
func seconds(s float64) time.Duration {
	if d := s * float64(time.Second); d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64
}
