package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/report"
)

// Limits of the report cache. A report takes about a second for 100,000 records. Concurrent
// requests therefore share one, at most maxMaking are made at a time, and the report of a
// run in progress is made again only every reportEvery.
const (
	maxReports  = 64
	maxMaking   = 2
	reportEvery = 5 * time.Second
)

// found holds the findings of a run.
type found struct {
	Run     store.Run // as it was when the report was made
	Report  report.Report
	Latency latencyCount
	Spread  *spread
	Times   []*timeChart
}

// A reportCache makes the reports of runs and keeps them.
type reportCache struct {
	*bench
	store store.Store

	scoresMu sync.Mutex
	scores   map[string]scoreView // of all reports made, by run
}

func newReports(ctx context.Context, st store.Store) *reportCache {
	return &reportCache{bench: newBench(ctx, maxMaking, maxReports), store: st, scores: map[string]scoreView{}}
}

// of returns the report of a run. If the run is in progress, the report may be a few seconds
// old.
func (rs *reportCache) of(ctx context.Context, run store.Run) (found, error) {
	return countOnce(ctx, rs.bench, run.ID, versionOf(run), run.State != store.Done, func(ctx context.Context) (found, error) {
		got, err := findingsOf(ctx, rs.store, run)
		if err == nil {
			rs.scoresMu.Lock()
			rs.scores[run.ID] = scoreOf(run, got.Report)
			rs.scoresMu.Unlock()
		}
		return got, err
	})
}

// scored returns the score of a run if a current one is cached. It never makes a report.
func (rs *reportCache) scored(run store.Run) (scoreView, bool) {
	rs.scoresMu.Lock()
	defer rs.scoresMu.Unlock()
	v, ok := rs.scores[run.ID]
	return v, ok && v.Run.Same(run)
}

// score returns the score of a run. If the report fails, the score contains the error
// message.
func (rs *reportCache) score(ctx context.Context, run store.Run) (scoreView, error) {
	if v, ok := rs.scored(run); ok {
		return v, nil
	}
	got, err := rs.of(ctx, run)
	if err != nil {
		return scoreView{Run: run, Held: err.Error()}, err
	}
	return scoreOf(got.Run, got.Report), nil
}

// findingsOf makes the report of a run. In the same pass it computes the findings that are
// not part of a report. It adds the effect of known errors in the answer key, if the run was
// configured with a list of them. If the list cannot be read, the report gets a note instead.
// The note does not quote the list, because it is a file of the server.
func findingsOf(ctx context.Context, st store.Store, run store.Run) (found, error) {
	p, err := reports.Protocol(run)
	if err != nil {
		return found{}, err
	}
	r, err := reports.NewReporter(ctx, run, reports.Options{MaxUnjudged: report.DefaultMaxUnjudged})
	if err != nil {
		return found{}, err
	}
	got := found{Run: run, Spread: newSpread(run)}
	var times []timedCall
	// Texts are needed only to parse replies again and for the metrics of a benchmark.
	brief := (p == nil || p.Reread() == nil) && r.Published == nil
	for rec, err := range store.Ahead(st.Records(ctx, run.ID, store.Query{WithCalls: true, Brief: brief})) {
		if err != nil {
			return found{}, err
		}
		r.Add(rec)
		for _, c := range rec.Calls {
			if c.Reply == nil || c.Reply.Cached || c.Reply.Batch != "" {
				continue // A batch does not report how long each reply took.
			}
			got.Latency.add(c.Reply.Latency)
			if !c.Started.IsZero() {
				times = append(times, timedCall{c.Started, c.Reply.Latency, c.Reply.CostMicros})
			}
		}
		if rec.Verdict != nil {
			got.Spread.add(rec.Item.Category, *rec.Verdict)
		}
	}
	f, err := r.Found(run).WithParts(ctx, st)
	if err != nil {
		return found{}, err
	}
	got.Report, got.Times = f.Report, newTimeCharts(times)
	faults, err := reports.Errata(ctx, st, run, got.Report.Head, "", catalog.Again)
	if faults != nil {
		got.Report.Errata = *faults
	}
	reports.AddErrata(&got.Report, faults)
	var note string
	file := filepath.Base(reports.SettingsOf(run.Spec).Errata)
	switch {
	case err == nil:
		return got, nil
	case errors.Is(err, reports.ErrNoErrata):
		note = fmt.Sprintf("the errata that the run was told of, %s, are not there any more", file)
	case usage.Is(err):
		note = fmt.Sprintf("the errata that the run was told of, %s, cannot be read; deem report %s says why", file, run.ID)
	default:
		return found{}, err
	}
	got.Report.Notes = append(slices.Clone(got.Report.Notes), note)
	return got, nil
}

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
