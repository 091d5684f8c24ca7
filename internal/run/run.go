// Package run conducts runs, for the command, the server and the workers of a queue.
//
// [New] makes the judge of a run with its models, [Run.Begin] claims the run in the store,
// [Run.Do] judges the items that the run has no record of, and [Run.End] gives back what
// the run has. A worker judges its chunks with [Job] alone, because the queue begins and
// ends its runs.
//
// What callers add is their own: a command shows progress on a terminal, and the server
// tells its clients over HTTP.
package run

import (
	"context"
	"errors"
	"io"

	"deem"
	"deem/internal/batch"
	"deem/internal/store"
	"deem/internal/telemetry"
	"deem/internal/usage"
	"deem/model"
)

// Options say how a run is judged.
type Options struct {
	Concurrency   int // items that are judged at once
	Trials        int // how often each item is judged
	Retries       int // how often a call is made again when its error may pass
	RPM, TPM      int // requests and tokens per minute at most; 0 means no bound
	Prices        model.Prices
	Purse         *model.Purse // pays for the calls; nil when they may cost what they cost
	Total         *model.Purse // what several runs may cost together; nil for no bound
	Fresh         bool         // do not resume an earlier run, and ask again what was asked before
	RetryUnjudged bool         // judge again what an earlier part of the run could not judge
}

// Decorators returns what goes around every model that is asked.
func (o Options) Decorators(replies model.ReplyCache) model.Options {
	return model.Options{
		Replies: replies,
		// What could not be read once cannot be read from the cache either.
		Cache:  model.CacheOptions{Fresh: o.Fresh || o.RetryUnjudged},
		Retry:  model.RetryOptions{Attempts: o.Retries + 1},
		Limit:  model.LimitOptions{Concurrency: o.Concurrency, RPM: o.RPM, TPM: o.TPM},
		Prices: o.Prices, Purse: o.Purse, Total: o.Total,
	}
}

// Affordable refuses a model without a known price when there is a budget.
func (o Options) Affordable(name, tier string) error {
	if _, ok := o.Prices.OfTier(name, tier); ok || o.Purse == nil && o.Total == nil {
		return nil
	}
	return usage.Mark(model.Unpriced(name, tier))
}

// A Choice is a judge that was chosen, with its models open.
type Choice interface {
	// Assemble makes the judge, with what decorate puts around each of its models.
	Assemble(decorate func(wire deem.Model) deem.Model) (deem.Judge, error)
	Models() (names, endpoints string)
	Asks() bool // whether it asks a model
}

// A Setup is what a run is made of.
type Setup struct {
	Store   store.Store
	Choice  Choice
	Dataset store.DatasetSpec
	Options Options

	Telemetry *telemetry.Telemetry // nil tells nobody

	// Around, if it is set, goes around every model, outside the reply cache.
	Around func(deem.Model) deem.Model

	// Batched says that requests go through batches of the vendor. Without it a run whose
	// requests are in batches is refused: they would be paid for twice.
	Batched bool

	// Busy, if it is set, returns an error for a run that workers have.
	Busy func(ctx context.Context, runID string) error
}

// A Run is a run that this process conducts.
type Run struct {
	store.Run // as it was begun
	Setup     Setup
	Spec      store.Spec // without settings, which the caller may add until the run begins
	Judge     deem.Judge
	Model     deem.Model // which the judge asks; nil when there is none, or more than one

	Resumed    bool
	Unfinished map[ItemTrial]bool // what the run has paid for and not judged

	models  []deem.Model // to be closed
	account *Account
}

// New makes the judge of a run, with the decorators around its models.
func New(s Setup) (*Run, error) {
	r := &Run{Setup: s}
	var asked []deem.Model
	var unpriced error
	var err error
	r.Judge, err = s.Choice.Assemble(func(wire deem.Model) deem.Model {
		unpriced = errors.Join(unpriced, s.Options.Affordable(wire.Name(), model.TierOf(wire)))
		if _, shared := wire.(*model.Limiter); !shared {
			r.models = append(r.models, wire)
			wire = s.Telemetry.Wire(wire)
		}
		decorators := s.Options.Decorators(s.Store)
		decorators.Answered = func() bool { return r.Answered() } // It is known once the run has begun.
		m := model.Assemble(wire, decorators)
		if s.Around != nil {
			m = s.Around(m)
		}
		asked = append(asked, s.Telemetry.Model(m))
		return asked[len(asked)-1]
	})
	if err == nil {
		err = unpriced
	}
	if err == nil {
		r.Spec, err = Spec(s.Choice, r.Judge, s.Dataset, s.Options.Trials)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if len(asked) == 1 {
		r.Model = asked[0]
	}
	return r, nil
}

// Spec returns what a store keeps of a run, without its settings.
func Spec(c Choice, j deem.Judge, data store.DatasetSpec, trials int) (store.Spec, error) {
	who, err := Describe(j, !c.Asks())
	s := store.Spec{Judge: who, Dataset: data, Trials: trials}
	s.Model, s.Endpoint = c.Models()
	return s, err
}

// Describe returns what a store keeps of a judge. A rule is a judge that asks no model.
func Describe(j deem.Judge, rule bool) (store.JudgeSpec, error) {
	hash, err := deem.JudgeHash(j)
	if err != nil {
		return store.JudgeSpec{}, err
	}
	s := store.JudgeSpec{Name: j.Name(), Hash: hash, Rule: rule}
	if ij, ok := j.(deem.Identified); ok {
		s.Identity, err = deem.Canonical(ij.Identity())
	}
	return s, err
}

// Find returns the newest run with the given key, and whether there is one.
func Find(ctx context.Context, st store.Store, key string) (store.Run, bool, error) {
	for row, err := range st.Runs(ctx) {
		if err != nil || row.Key() == key {
			return row, err == nil, err
		}
	}
	return store.Run{}, false, nil
}

// Info describes a run to those who watch it.
func Info(row store.Run, m deem.Model, concurrency int) telemetry.RunInfo {
	return telemetry.RunInfo{
		ID: row.ID, Judge: row.Judge.Name, JudgeHash: row.Judge.Hash, Model: row.Model,
		Items: row.Dataset.Items, Trials: row.Trials, Concurrency: concurrency, Before: row.Records, Asks: m,
	}
}

// Begin claims the run, and refuses it when others are to answer for its requests. After an
// error there is nothing left to end.
func (r *Run) Begin(ctx context.Context) error {
	st := r.Setup.Store
	var err error
	if r.Run, r.Resumed, err = st.Begin(ctx, r.Spec, r.Setup.Options.Fresh); err != nil {
		return errors.Join(err, r.Close())
	}
	if r.Setup.Busy != nil {
		err = r.Setup.Busy(ctx, r.ID)
	}
	if err == nil && r.State == store.Done {
		// The process died before it could forget them.
		err = batch.Forget(ctx, st, r.ID)
	}
	if err == nil && !r.Setup.Batched {
		err = batch.Refuse(ctx, st, r.ID)
	}
	if err == nil {
		r.Unfinished, err = Unfinished(ctx, st, r.Run)
	}
	if err != nil {
		return r.End(ctx, err)
	}
	r.account = OpenAccount(st, r.Run, r.Setup.Options.Purse)
	return nil
}

// Do judges what the run lacks. The job says which items there are, when to stop, and who
// is told; the rest is the run's.
func (r *Run) Do(ctx context.Context, job Job) error {
	o := r.Setup.Options
	ctx, told := r.Setup.Telemetry.Run(ctx, Info(r.Run, r.Model, o.Concurrency))
	each := job.Each
	job.Store, job.Run, job.Judge, job.RetryUnjudged = r.Setup.Store, r.Run, told.Judge(r.Judge), o.RetryUnjudged
	job.Options.Concurrency, job.Options.Trials = o.Concurrency, o.Trials
	job.Each = func(rec deem.Record) {
		told.Add(rec)
		each(rec)
	}
	err := job.Do(ctx)
	told.End(err)
	return err
}

// End gives back money, models and the claim. It marks the run as done if err is nil, and
// otherwise returns err.
func (r *Run) End(ctx context.Context, err error) error {
	ctx = context.WithoutCancel(ctx)
	err = End(ctx, r.Setup.Store, r.Run, errors.Join(err, r.Close(), r.account.Close(ctx)))
	if err == nil {
		err = batch.Forget(ctx, r.Setup.Store, r.ID)
	}
	return err
}

// Close closes the models of a run that was not begun.
func (r *Run) Close() error {
	var errs []error
	for _, m := range r.models {
		if c, ok := model.As[io.Closer](m); ok {
			errs = append(errs, c.Close())
		}
	}
	r.models = nil
	return errors.Join(errs...)
}

// End marks a run as done if err is nil. Otherwise it gives up the claim on it, so that
// the run can be resumed later, and returns err.
func End(ctx context.Context, st store.Store, row store.Run, err error) error {
	if err != nil {
		// A claim that cannot be given up dies with the process.
		_ = st.Release(row.ID)
		return err
	}
	return st.Finish(ctx, row.ID)
}
