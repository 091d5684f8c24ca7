package server

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

// How reports are kept. Making one takes about a second for 100,000 records, so it is
// made once however many look, two at a time at most, and that of a run in progress
// is made again only every few seconds.
const (
	maxReports  = 64
	maxMaking   = 2
	reportEvery = 5 * time.Second
)

// A found is what a run found.
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
	slots chan struct{} // one for each report that is being made
	wg    sync.WaitGroup

	mu     sync.Mutex
	kept   map[string]*kept     // by run
	scores map[string]scoreView // of all reports that were made, by run
}

// A kept report is made, or being made.
type kept struct {
	run  store.Run // of which it is made
	at   time.Time // when it was begun
	used time.Time
	done chan struct{} // closed when the rest is there
	got  found
	err  error
}

func newReports(ctx context.Context, st store.Store) *reportCache {
	return &reportCache{ctx: ctx, store: st, slots: make(chan struct{}, maxMaking), kept: map[string]*kept{}, scores: map[string]scoreView{}}
}

// wait waits until no report is being made.
func (rs *reportCache) wait() { rs.wg.Wait() }

// of returns the report of a run. It is as new as the run, or a few seconds older if
// the run goes on.
func (rs *reportCache) of(ctx context.Context, run store.Run) (found, error) {
	k := rs.entry(run)
	select {
	case <-k.done:
		return k.got, k.err
	case <-ctx.Done():
		return found{}, ctx.Err()
	}
}

// scored returns the score of a run if one is known that is good enough, and makes
// nothing.
func (rs *reportCache) scored(run store.Run) (scoreView, bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	v, ok := rs.scores[run.ID]
	return v, ok && same(v.Run, run)
}

// score returns the score of a run. What is wrong with the report stands in place of it.
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

// entry returns what is kept of a run, begun now if need be.
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

// goodFor reports whether the report still says what the run is.
func (k *kept) goodFor(run store.Run, now time.Time) bool {
	if same(k.run, run) {
		return !k.failed() || now.Sub(k.at) < reportEvery
	}
	select {
	case <-k.done:
		return run.State != store.Done && now.Sub(k.at) < reportEvery
	default:
		return run.State != store.Done // Nobody begins a second one meanwhile.
	}
}

// failed reports whether the report could not be made.
func (k *kept) failed() bool {
	select {
	case <-k.done:
		return k.err != nil
	default:
		return false
	}
}

// forget drops the report that was not used for the longest time when there are too
// many.
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

// make makes a report.
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

// findingsOf makes the report of a run, and counts in the same pass what a report does
// not hold.
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
	// Texts are needed only to read replies again and for a benchmark's own numbers.
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

// addErrata adds what the faults of the answer key that the run was told of do to its
// numbers. A list that cannot be read takes nothing from the report but itself, and a
// note says so. It does not say what stands in the list: the file is the server's.
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
