package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"deem/internal/store"
)

// Limits of a bench: jobs running at once, and jobs kept.
const (
	maxCounting = 2
	maxCounted  = 32
)

// A bench runs slow computations and caches their results. Concurrent requests share one
// computation, which is repeated only if its input has changed. It continues if the client
// disconnects, so that the next request finds the result.
type bench struct {
	ctx   context.Context
	slots chan struct{} // one for each running job
	wg    sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*job
}

// A job is a computation that is running or done.
type job struct {
	stamp string // the version of the input
	used  time.Time
	done  chan struct{} // closed when got and err are set
	got   any
	err   error
}

func newBench(ctx context.Context) *bench {
	return &bench{ctx: ctx, slots: make(chan struct{}, maxCounting), jobs: map[string]*job{}}
}

// wait waits until no job is running.
func (b *bench) wait() { b.wg.Wait() }

// countOnce returns the result of count, cached by key and stamp. It stops waiting when ctx
// is done, but the computation continues.
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

// job returns the job of a key. It starts one if there is none with this stamp.
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

// failed reports whether the job is done and failed, so that it is retried.
func (j *job) failed() bool {
	select {
	case <-j.done:
		return j.err != nil
	default:
		return false
	}
}

// work waits for a slot and runs a job.
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

// forget drops the least recently used job if there are too many, but never the newest.
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

// stampOf returns the version of a run. For a run in progress it changes every few seconds.
func stampOf(run store.Run, now time.Time) string {
	if run.State != store.Done {
		return fmt.Sprint("open ", now.Unix()/int64(reportEvery.Seconds()))
	}
	return fmt.Sprint(run.Records, " ", run.Updated.UnixNano())
}

// withPatience returns the page that show makes. If that takes longer than patience, it
// returns a page that asks the user to wait and reloads itself.
func withPatience(r *http.Request, title string, show func(context.Context) (page, error)) (page, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	p, err := show(ctx)
	if r.Context().Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return page{Template: "wait", Title: title, Section: "runs", Refresh: refreshEvery, Data: title}, nil
	}
	return p, err
}
