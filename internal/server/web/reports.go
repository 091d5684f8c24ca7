package web

import (
	"context"
	"errors"
	"fmt"
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
	ctx   context.Context
	store store.Store
	slots chan struct{} // one for each report in progress
	wg    sync.WaitGroup

	mu     sync.Mutex
	kept   map[string]*kept     // by run
	scores map[string]scoreView // of all reports made, by run
}

// kept is a report that is done or in progress.
type kept struct {
	run  store.Run // the run as it was when the report was started
	at   time.Time // when it was started
	used time.Time
	done chan struct{} // closed when got and err are set
	got  found
	err  error
}

func newReports(ctx context.Context, st store.Store) *reportCache {
	return &reportCache{ctx: ctx, store: st, slots: make(chan struct{}, maxMaking), kept: map[string]*kept{}, scores: map[string]scoreView{}}
}

// wait waits until no report is in progress.
func (rs *reportCache) wait() { rs.wg.Wait() }

// of returns the report of a run. If the run is in progress, the report may be a few seconds
// old.
func (rs *reportCache) of(ctx context.Context, run store.Run) (found, error) {
	k := rs.entry(run)
	select {
	case <-k.done:
		return k.got, k.err
	case <-ctx.Done():
		return found{}, ctx.Err()
	}
}

// scored returns the score of a run if a current one is cached. It never makes a report.
func (rs *reportCache) scored(run store.Run) (scoreView, bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
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

// entry returns the cached report of a run. It starts a new one if necessary.
func (rs *reportCache) entry(run store.Run) *kept {
	now := time.Now()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	k := rs.kept[run.ID]
	if k == nil || !k.goodFor(run, now) {
		k = &kept{run: run, at: now, done: make(chan struct{})}
		rs.kept[run.ID] = k
		rs.forget()
		rs.wg.Go(func() { rs.make(k) })
	}
	k.used = now
	return k
}

// goodFor reports whether the report is current enough for the run.
func (k *kept) goodFor(run store.Run, now time.Time) bool {
	if k.run.Same(run) {
		return !k.failed() || now.Sub(k.at) < reportEvery
	}
	select {
	case <-k.done:
		return run.State != store.Done && now.Sub(k.at) < reportEvery
	default:
		return run.State != store.Done // Do not start a second one meanwhile.
	}
}

// failed reports whether the report is done and failed.
func (k *kept) failed() bool {
	select {
	case <-k.done:
		return k.err != nil
	default:
		return false
	}
}

// forget drops the least recently used report if there are too many.
func (rs *reportCache) forget() {
	if len(rs.kept) <= maxReports {
		return
	}
	oldest := ""
	for id, k := range rs.kept {
		if !k.used.IsZero() && (oldest == "" || k.used.Before(rs.kept[oldest].used)) {
			oldest = id
		}
	}
	delete(rs.kept, oldest)
}

// make waits for a slot and makes a report.
func (rs *reportCache) make(k *kept) {
	defer close(k.done)
	select {
	case rs.slots <- struct{}{}:
		defer func() { <-rs.slots }()
	case <-rs.ctx.Done():
		k.err = rs.ctx.Err()
		return
	}
	if k.got, k.err = findingsOf(rs.ctx, rs.store, k.run); k.err == nil {
		rs.mu.Lock()
		rs.scores[k.run.ID] = scoreOf(k.run, k.got.Report)
		rs.mu.Unlock()
	}
}

// findingsOf makes the report of a run. In the same pass it computes the findings that are
// not part of a report.
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
		got.Latency.addCalls(rec.Calls)
		times = timesOf(times, rec.Calls)
		if rec.Verdict != nil {
			got.Spread.add(rec.Item.Category, *rec.Verdict)
		}
	}
	f, err := r.Found(run).WithParts(ctx, st)
	if err != nil {
		return found{}, err
	}
	got.Report, got.Times = f.Report, newTimeCharts(times)
	return got, got.addErrata(ctx, st)
}

// addErrata adds the effect of known errors in the answer key, if the run was configured
// with a list of them. If the list cannot be read, the report gets a note instead. The note
// does not quote the list, because it is a file of the server.
func (f *found) addErrata(ctx context.Context, st store.Store) error {
	faults, err := reports.Errata(ctx, st, f.Run, f.Report.Head, "", catalog.Again)
	if faults != nil {
		f.Report.Errata = *faults
	}
	reports.AddErrata(&f.Report, faults)
	file := filepath.Base(reports.SettingsOf(f.Run.Spec).Errata)
	switch {
	case err == nil:
	case errors.Is(err, reports.ErrNoErrata):
		f.note("the errata that the run was told of, %s, are not there any more", file)
	case usage.Is(err):
		f.note("the errata that the run was told of, %s, cannot be read; deem report %s says why", file, f.Run.ID)
	default:
		return err
	}
	return nil
}

func (f *found) note(format string, args ...any) {
	f.Report.Notes = append(slices.Clone(f.Report.Notes), fmt.Sprintf(format, args...))
}
