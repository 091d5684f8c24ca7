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

// A bench runs slow computations and caches their results. Concurrent requests share one
// computation, which is repeated only if its input has changed. It continues if the client
// disconnects, so that the next request finds the result.
type bench struct {
	ctx   context.Context
	slots chan struct{} // one for each running job
	most  int           // jobs to keep
	wg    sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*job
}

// A job is a computation that is running or done.
type job struct {
	stamp    string // the version of the input
	at, used time.Time
	done     chan struct{} // closed when got and err are set
	got      any
	err      error
}

// newBench returns a bench that runs and keeps a number of jobs.
func newBench(ctx context.Context, slots, most int) *bench {
	return &bench{ctx: ctx, slots: make(chan struct{}, slots), most: most, jobs: map[string]*job{}}
}

// countOnce returns the result of count, cached by key and stamp. If the input is growing, the
// result for an earlier stamp is good enough for reportEvery. countOnce stops waiting when ctx
// is done, but the computation continues.
func countOnce[T any](ctx context.Context, b *bench, key, stamp string, growing bool, count func(context.Context) (T, error)) (T, error) {
	now := time.Now()
	b.mu.Lock()
	j := b.jobs[key]
	if j == nil || !j.goodFor(stamp, growing, now) {
		j = &job{stamp: stamp, at: now, done: make(chan struct{})}
		b.jobs[key] = j
		b.wg.Go(func() {
			defer close(j.done)
			select {
			case b.slots <- struct{}{}:
				defer func() { <-b.slots }()
				j.got, j.err = count(b.ctx)
			case <-b.ctx.Done():
				j.err = b.ctx.Err()
			}
		})
		if len(b.jobs) > b.most { // Drop the least recently used one, but never the newest.
			oldest := ""
			for other, j := range b.jobs {
				if other != key && (oldest == "" || j.used.Before(b.jobs[oldest].used)) {
					oldest = other
				}
			}
			delete(b.jobs, oldest)
		}
	}
	j.used = now
	b.mu.Unlock()
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

// goodFor reports whether the result of the job can be used for an input. A job that failed is
// repeated, but not by every request.
func (j *job) goodFor(stamp string, growing bool, now time.Time) bool {
	recent := now.Sub(j.at) < reportEvery
	select {
	case <-j.done:
		return recent && (growing || j.stamp == stamp) || j.stamp == stamp && j.err == nil
	default:
		return growing || j.stamp == stamp // Do not start a second one meanwhile.
	}
}

// stampOf returns the version of a run. For a run in progress it changes only every few
// seconds.
func stampOf(run store.Run, now time.Time) string {
	if run.State != store.Done {
		return fmt.Sprint("open ", now.Unix()/int64(reportEvery.Seconds()))
	}
	return versionOf(run)
}

// versionOf returns a string that changes whenever the run changes.
func versionOf(run store.Run) string {
	return fmt.Sprint(run.State, " ", run.Records, " ", run.Updated.UnixNano())
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
