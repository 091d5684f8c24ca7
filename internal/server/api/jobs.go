package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"deem"
	"deem/internal/money"
	"deem/internal/reports"
	"deem/internal/run"
	"deem/internal/server"
	"deem/internal/store"
	"deem/internal/usage"
)

// Limits on the runs judged at the same time. Small runs have separate slots, so that a
// client that waits for ten verdicts does not wait for a hundred thousand others.
const (
	defaultRuns = 2
	smallRuns   = 16
	maxJobs     = 256 // including waiting runs
	smallItems  = 100 // maximum of a small run, which a client may wait for

	callsGrace = 10 * time.Second // for calls in flight when the server stops or a run is cancelled
)

// runJobs manages the runs that this server judges. A job is started by a request and
// outlives it; [runJobs.close] ends all jobs.
type runJobs struct {
	s            *Server
	large, small chan struct{} // slots for runs that are judged at the same time

	// Cancelling hard aborts calls in flight. The server's context stops runs gracefully.
	hard context.Context
	kill context.CancelFunc
	wg   sync.WaitGroup

	starting sync.Mutex // held while a run is started

	mu     sync.Mutex
	shares map[clientShare]chan struct{} // the slots that one client may take
	byRun  map[string]*runJob
	byKey  map[string]*runJob
	left   []string // runs interrupted by the shutdown of the server
}

// close waits until all jobs have ended. The caller has already stopped them by cancelling
// the server's background context.
func (js *runJobs) close() {
	timer := time.AfterFunc(callsGrace, js.kill)
	defer timer.Stop()
	js.wg.Wait()
	js.kill()
}

// Kill cancels all calls in flight, like a second Ctrl-C.
func (s *Server) Kill() { s.jobs.kill() }

// Interrupted returns the runs interrupted by the shutdown of the server. The list is
// complete after [Server.Close] or [Server.Serve] has returned.
func (s *Server) Interrupted() []string {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	return slices.Clone(s.jobs.left)
}

// A runJob is one run that this server judges.
type runJob struct {
	run    *run.Run
	client string // the address of the client that asked for it
	key    string
	data   spooled

	// Calls in flight use the context calls. kill cancels it callsGrace after the run was
	// cancelled.
	calls context.Context //nolint:containedctx // It belongs to the job and not to a request.
	kill  context.CancelFunc

	stopping context.Context //nolint:containedctx // It is the channel that says stop, and who may say so.
	stop     context.CancelFunc
	done     chan struct{} // closed after err is set; no records follow
	err      error

	mu        sync.Mutex
	judging   bool // it has a slot
	cancelled bool
	records   []deem.Record // of a small run, for clients that stream them
	more      chan struct{} // closed when there are more records
}

// runSettings are the settings stored with a run, including how it was submitted.
type runSettings struct {
	reports.Settings
	API *submission `json:"api,omitempty"`
}

// submissionOf returns the submission of a run, or nil if it was not submitted over the API.
func submissionOf(run store.Run) *submission {
	var set runSettings
	_ = json.Unmarshal(run.Settings, &set) // A run without settings has no submission.
	return set.API
}

// start makes the judge of a submission, claims its run and judges it in the background. If
// the run is already being judged, start returns its job. start takes ownership of the items.
func (js *runJobs) start(ctx context.Context, sub submission, d spooled) (*runJob, error) {
	begun, s := false, js.s
	defer func() {
		if !begun { // A request that joins a job does not need its items: the job has them.
			s.spool.release(d, s.unfinished)
		}
	}()
	g, err := s.judging(sub)
	if err != nil {
		return nil, err
	}
	o := run.Options{
		Concurrency: s.models.limit.Concurrency, Trials: max(sub.Trials, 1), Retries: max(cmp.Or(s.options.Retries, 5), 0),
		Prices: s.options.Prices, Total: s.models.total, Fresh: sub.Fresh, RetryUnjudged: sub.RetryUnjudged,
	}
	most := s.options.MaxCost // or the limit of the client, if that is lower
	if own := (*int64)(sub.MaxCost); own != nil && (!most.Set || *own < most.Value) {
		most.Value, most.Set = *own, true
	}
	if most.Set {
		o.Budget = money.New(most.Value)
	}
	setup := run.Setup{
		Store: s.Store, Choice: g, Options: o, Telemetry: s.options.Telemetry,
		Dataset: store.DatasetSpec{Names: []string{cmp.Or(sub.Dataset, "api")}, Hash: d.hash, Items: d.n},
	}
	if s.options.Queue != nil {
		setup.Busy = s.options.Queue.Busy
	}
	r, err := run.New(setup)
	if err != nil {
		return nil, usage.Mark(err)
	}
	j := &runJob{run: r, key: r.Spec.Key(), data: d, done: make(chan struct{}), more: make(chan struct{})}
	j.client, _ = ctx.Value(clientKey{}).(string)
	js.starting.Lock()
	defer js.starting.Unlock()
	js.mu.Lock()
	other := js.byKey[j.key]
	js.mu.Unlock()
	if other != nil && !sub.Fresh {
		return other, nil
	}
	if err := js.room(j.client); err != nil {
		return nil, err
	}
	if r.Spec.Settings, err = js.settings(ctx, r, g.As, sub); err != nil {
		return nil, err
	}
	if err := r.Begin(ctx); err != nil {
		return nil, err
	}
	if err := js.recall(ctx, j); err != nil {
		return nil, r.End(ctx, err)
	}
	begun = true
	j.stopping, j.stop = context.WithCancel(s.Background)
	j.calls, j.kill = context.WithCancel(js.hard)
	s.SetEnd(r.ID, nil)
	js.mu.Lock()
	js.byRun[r.ID], js.byKey[j.key] = j, j
	js.mu.Unlock()
	js.wg.Go(func() {
		defer j.stop()
		defer j.kill()
		js.over(j, r.End(js.hard, js.work(j)))
	})
	return j, nil
}

// settings returns the settings to store with the run. A run that has records keeps its
// earlier settings, such as its benchmark and its lock.
func (js *runJobs) settings(ctx context.Context, r *run.Run, judge string, sub submission) (json.RawMessage, error) {
	set := runSettings{Settings: reports.Settings{
		Concurrency: js.s.models.limit.Concurrency, Reading: sub.Reading, System: sub.System, SystemModel: sub.SystemModel,
		Judge: judge, Deem: js.s.Version,
	}}
	earlier, found, err := run.Find(ctx, js.s.Store, r.Spec.Key())
	if err != nil {
		return nil, err
	}
	if found && !sub.Fresh && earlier.Records > 0 {
		set.Settings = reports.SettingsOf(earlier.Spec)
	}
	// These are not stored: a server that resumes the run would start over each time.
	sub.Fresh, sub.RetryUnjudged = false, false
	set.API = &sub
	return json.Marshal(set)
}

// room returns an error if there are already maxJobs jobs, or half as many of this client.
func (js *runJobs) room(client string) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.s.Background.Err() != nil {
		return server.WithStatus(http.StatusServiceUnavailable, errors.New("the server is stopping"))
	}
	if len(js.byRun) >= maxJobs {
		return server.WithStatus(http.StatusServiceUnavailable, deem.WithHint(fmt.Errorf("%d runs are waiting to be judged", len(js.byRun)), "try again later"))
	}
	own := 0
	for _, j := range js.byRun {
		if j.client == client {
			own++
		}
	}
	if own >= maxJobs/2 {
		return server.WithStatus(http.StatusServiceUnavailable, deem.WithHint(fmt.Errorf("%d runs of this client are waiting to be judged", own), "try again later"))
	}
	return nil
}

// A clientShare identifies the slots of one client for small or for large runs.
type clientShare struct {
	client string
	small  bool
}

// clientKey is the key of the client's address in the context of a request.
type clientKey struct{}

// recall loads the existing records of a small run, so that clients that stream the run are
// sent all of its records. It skips those that will be judged again.
func (js *runJobs) recall(ctx context.Context, j *runJob) error {
	if j.run.Records == 0 || !j.isSmall() {
		return nil
	}
	for rec, err := range js.s.Store.Records(ctx, j.run.ID, store.Query{WithCalls: true}) {
		if err != nil {
			return err
		}
		if rec.Failure == nil || !j.run.Setup.Options.RetryUnjudged && !store.IsUnfinished(rec) {
			j.records = append(j.records, rec)
		}
	}
	return nil
}

func (j *runJob) isSmall() bool { return j.data.n <= smallItems }

// work waits for a slot and judges the run.
func (js *runJobs) work(j *runJob) error {
	places := js.large
	if j.isSmall() {
		places = js.small
	}
	// One client may take all slots but one, so that it cannot block the others. If there is
	// only one slot, all clients share it.
	js.mu.Lock()
	share := clientShare{j.client, j.isSmall()}
	if js.shares[share] == nil {
		js.shares[share] = make(chan struct{}, max(1, cap(places)-1))
	}
	own := js.shares[share]
	js.mu.Unlock()
	if !take(j, own) {
		return deem.ErrStopped
	}
	defer func() { <-own }()
	if !take(j, places) {
		return deem.ErrStopped
	}
	defer func() { <-places }()
	j.mu.Lock()
	j.judging = true
	j.mu.Unlock()
	return j.run.Do(j.calls, run.Job{Items: j.data.items(), Options: deem.Options{Stop: j.stopping.Done()}, Each: j.add})
}

// take waits for a slot, and reports whether the job got one. It returns false if the job
// is stopped.
func take(j *runJob, places chan<- struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-j.stopping.Done():
		return false
	}
}

// add appends a record of a small run, for clients that stream it.
func (j *runJob) add(rec deem.Record) {
	if !j.isSmall() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, rec)
	close(j.more)
	j.more = make(chan struct{})
}

// from returns the records from index i on, and a channel that is closed when there are more.
func (j *runJob) from(i int) ([]deem.Record, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.records[i:len(j.records):len(j.records)], j.more
}

// over records the result of a job and removes it.
func (js *runJobs) over(j *runJob, err error) {
	j.err = err
	j.mu.Lock()
	if j.cancelled && (errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled)) {
		j.err = errCancelled
	}
	j.mu.Unlock()
	if bug, ok := errors.AsType[*run.PanicError](err); ok {
		js.s.Logger.Error("panic", "judge", bug.Judge, "item", bug.Item, "value", fmt.Sprint(bug.Value), "stack", string(bug.Stack))
		j.err = server.ErrPanic
	}
	js.s.spool.release(j.data, js.s.unfinished)
	if err != nil {
		js.s.SetEnd(j.run.ID, j.err)
	}
	js.mu.Lock()
	delete(js.byRun, j.run.ID)
	if !slices.ContainsFunc(slices.Collect(maps.Values(js.byRun)), func(other *runJob) bool { return other.client == j.client }) {
		delete(js.shares, clientShare{j.client, true})
		delete(js.shares, clientShare{j.client, false})
	}
	if js.byKey[j.key] == j {
		delete(js.byKey, j.key)
	}
	if err != nil && js.s.Background.Err() != nil {
		js.left = append(js.left, j.run.ID)
	}
	js.mu.Unlock()
	close(j.done)
	if err != nil && !errors.Is(err, deem.ErrStopped) && js.hard.Err() == nil {
		js.s.Logger.Error("run", "run", j.run.ID, "error", err)
	}
}

// errCancelled is the error of a run that a client cancelled.
var errCancelled = server.WithStatus(http.StatusConflict, deem.WithHint(errors.New("the run was cancelled; finished items are kept"), "POST %s/runs/ID/resume resumes it", server.APIRoot))

// find returns the job of a run, or nil if this server does not judge it.
func (js *runJobs) find(id string) *runJob {
	js.mu.Lock()
	defer js.mu.Unlock()
	return js.byRun[id]
}

// unfinished reports whether a run submitted over the API still needs the items with this
// hash.
func (s *Server) unfinished(hash string) bool {
	for run, err := range s.Store.Runs(context.Background()) {
		if err != nil {
			return true // It is unknown, so nothing is removed.
		}
		if run.Dataset.Hash == hash && run.State != store.Done && submissionOf(run) != nil {
			return true
		}
	}
	return false
}

// resume resumes a run that was submitted over the API and is not done.
func (s *Server) resume(ctx context.Context, run store.Run, more resumption) error {
	sub := submissionOf(run)
	if sub == nil {
		return server.WithStatus(http.StatusConflict, deem.WithHint(fmt.Errorf("run %s was not begun over this API", run.ID), "run the command that started it again"))
	}
	d, ok := s.spool.find(run.Dataset.Hash, run.Dataset.Items)
	if !ok {
		return server.WithStatus(http.StatusConflict, deem.WithHint(fmt.Errorf("the items of run %s are not on this machine", run.ID), "send them again: the same items, judge and model resume the same run"))
	}
	sub.RetryUnjudged, sub.MaxCost = more.RetryUnjudged, cmp.Or(more.MaxCost, sub.MaxCost)
	j, err := s.jobs.start(ctx, *sub, d)
	if err == nil && j.run.ID != run.ID {
		err = server.WithStatus(http.StatusConflict, fmt.Errorf("run %s has been started over as run %s", run.ID, j.run.ID))
	}
	return err
}

// Resumable returns the runs that were submitted over the API, are not done, and can be
// resumed by this server.
func (s *Server) Resumable(ctx context.Context) ([]store.Run, error) {
	var list []store.Run
	for run, err := range s.Store.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if run.State != store.Done && submissionOf(run) != nil && s.spool.has(run.Dataset.Hash) {
			list = append(list, run)
		}
	}
	return list, nil
}

// Resume resumes a run that an earlier server left unfinished. It does not wait for the run.
func (s *Server) Resume(ctx context.Context, run store.Run) error {
	return s.resume(ctx, run, resumption{})
}
