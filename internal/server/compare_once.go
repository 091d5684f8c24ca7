package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"deem/internal/store"
)

// How much is counted at once, and how much of it is kept.
const (
	maxCounting = 2
	maxCounted  = 32
)

// A bench counts what takes a while: once, however many look, and not again until what
// was counted has changed. A visitor may leave; the next one finds it done.
type bench struct {
	ctx   context.Context
	slots chan struct{} // one for each job that is being done
	wg    sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*job
}

// A job is done, or being done.
type job struct {
	stamp string // what was counted, and how far that was
	used  time.Time
	done  chan struct{} // closed when the rest is there
	got   any
	err   error
}

func newBench(ctx context.Context) *bench {
	return &bench{ctx: ctx, slots: make(chan struct{}, maxCounting), jobs: map[string]*job{}}
}

// wait waits until nothing is being counted.
func (b *bench) wait() { b.wg.Wait() }

// countOnce returns what count returns, or returned before under the same key and stamp.
// It stops waiting when ctx is done, but the counting goes on.
func countOnce[T any](ctx context.Context, b *bench, key, stamp string, count func(context.Context) (T, error)) (T, error) {
	j := b.job(key, stamp, func(ctx context.Context) (any, error) { return count(ctx) })
	var none T
	select {
	case <-j.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if j.err != nil {
		return none, j.err
	}
	return j.got.(T), nil //nolint:forcetypeassert // A key is used for one type.
}

// job returns the job of a key, begun if there is none that fits.
func (b *bench) job(key, stamp string, do func(context.Context) (any, error)) *job {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[key]
	if j == nil || j.stamp != stamp || j.failed() {
		j = &job{stamp: stamp, done: make(chan struct{})}
		b.jobs[key] = j
		b.wg.Go(func() { b.work(j, do) })
		b.forget(key)
	}
	j.used = time.Now()
	return j
}

// failed reports whether the job is over and came to nothing, so that it is tried again.
func (j *job) failed() bool {
	select {
	case <-j.done:
		return j.err != nil
	default:
		return false
	}
}

// work does a job when there is a slot for it.
func (b *bench) work(j *job, do func(context.Context) (any, error)) {
	defer close(j.done)
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-b.ctx.Done():
		j.err = b.ctx.Err()
		return
	}
	j.got, j.err = do(b.ctx)
}

// forget drops the job that was not looked at for the longest time when there are too
// many, but never the newest.
func (b *bench) forget(newest string) {
	if len(b.jobs) <= maxCounted {
		return
	}
	oldest := ""
	for key, j := range b.jobs {
		if key != newest && (oldest == "" || j.used.Before(b.jobs[oldest].used)) {
			oldest = key
		}
	}
	delete(b.jobs, oldest)
}

// stampOf says how far a run is. What was counted of a run that goes on is good for a
// few seconds.
func stampOf(run store.Run, now time.Time) string {
	if run.State != store.Done {
		return fmt.Sprint("open ", now.Unix()/int64(reportEvery.Seconds()))
	}
	return fmt.Sprint(run.Records, " ", run.Updated.UnixNano())
}

// withPatience lets a visitor wait for a page for which something is counted, but not for long. If
// counting takes longer than the context it is given, another page is shown meanwhile.
func withPatience(r *http.Request, title string, show func(context.Context) (page, error)) (page, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	p, err := show(ctx)
	if r.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return page{Template: "wait", Title: title, Section: "runs", Refresh: refreshEvery, Data: title}, nil
	}
	return p, err
}
