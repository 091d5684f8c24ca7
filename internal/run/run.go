// Package run plans and conducts runs for the command line, the server and the workers of a queue.
//
// [New] builds the judge of a run with its models, [Run.Begin] claims the run in the store,
// [Run.Do] judges the items that have no record yet, and [Run.End] releases the resources
// of the run. A worker uses only [Job] for its chunks, because the queue begins and ends
// its runs.
//
// A run may send its requests through the batch API of a vendor, which answers within a day
// and costs less. [Batch] splits the missing requests into batches, submits them, waits,
// and stores the result of each line. [BatchModel] answers from these results, so that the
// run itself proceeds as usual.
//
// Showing progress is left to the callers: on a terminal, or over HTTP.
//
// A [Planner] estimates the calls, cost and time of a run without calling a model. The caller
// renders the requests of each item, as the run would, and passes them to it. It keeps sums and
// eight bytes per request, so a plan of a million items needs no more memory than the run:
//
//	p := run.NewPlanner(run.PlanOptions{Model: "openai:gpt-4o-mini", Concurrency: 8})
//	for it := range items {
//		p.Add(ctx, render(it))
//	}
//	p.Plan().Text(os.Stdout)
//
// Two of the numbers are expectations. The length of replies comes from earlier replies, or is
// guessed from the kind of request; the plan also has the maximum that the requests allow. The
// time assumes that all calls take equally long, at the given limits.
package run

import (
	"context"
	"errors"
	"io"

	"deem"
	"deem/internal/model"
	"deem/internal/money"
	"deem/internal/store"
	"deem/internal/telemetry"
	"deem/internal/usage"
)

// Options says how a run is judged.
type Options struct {
	Concurrency   int // items judged concurrently
	Trials        int // number of times each item is judged
	Retries       int // maximum number of retries of a call after a transient error
	RPM, TPM      int // maximum requests and tokens per minute; 0 means no limit
	Prices        model.Prices
	Budget        *money.Budget // pays for the calls; nil means no limit
	Total         *money.Budget // common budget of several runs; nil means none
	Fresh         bool          // do not resume an earlier run, and ignore cached replies
	RetryUnjudged bool          // judge items again that an earlier part of the run could not judge
	KeepGoing     bool          // do not stop after twenty items in a row without a verdict
	OnAbsence     func(error)   // receives the first error of a server that never answered; may be nil
}

// A Budget is the money that a run may spend.
type Budget = money.Budget

// ShareBudget returns the budget of one of several processes that judge a run.
func ShareBudget(ctx context.Context, st money.Store, sum int64) (*Budget, error) {
	b := money.New(sum)
	return b, b.Open(ctx, st, 0, 0)
}

// Decorators returns the options of the decorators around every model.
func (o Options) Decorators(replies model.ReplyCache) model.Options {
	return model.Options{
		Replies: replies,
		// A cached reply that could not be read cannot be read now either.
		Cache:  model.CacheOptions{Fresh: o.Fresh || o.RetryUnjudged},
		Retry:  model.RetryOptions{Attempts: o.Retries + 1},
		Limit:  model.LimitOptions{Concurrency: o.Concurrency, RPM: o.RPM, TPM: o.TPM},
		Prices: o.Prices, Budget: o.Budget, Total: o.Total, OnAbsence: o.OnAbsence,
	}
}

// Affordable returns an error if there is a budget and the price of the model is unknown.
func (o Options) Affordable(name, tier string) error {
	if _, ok := o.Prices.Of(name, tier); ok || o.Budget == nil && o.Total == nil {
		return nil
	}
	return usage.Mark(model.Unpriced(name, tier))
}

// A Choice is a judge that was chosen, with its models open.
type Choice interface {
	Wires() []deem.Model                           // its models
	Build(models []deem.Model) (deem.Judge, error) // with a decorated model for each of Wires
	Models() (names, endpoints string)
	Asks() bool // whether it uses a model
}

// A Setup configures a run.
type Setup struct {
	Store   store.Store
	Choice  Choice
	Dataset store.DatasetSpec
	Options Options

	Telemetry *telemetry.Telemetry // nil disables it

	// Around, if set, wraps every model, outside the reply cache.
	Around func(deem.Model) deem.Model

	// Batched means that requests use the vendor's batch API. If it is false, a run
	// with requests in batches is rejected, because they would be paid for twice.
	Batched bool

	// Busy, if set, returns an error if workers are judging the run.
	Busy func(ctx context.Context, runID string) error
}

// A Run is a run that this process conducts.
type Run struct {
	store.Run // as returned by Begin
	Setup     Setup
	Spec      store.Spec // without settings, which the caller may add before Begin
	Judge     deem.Judge
	Model     deem.Model // the model of the judge; nil if there is none, or more than one

	Resumed    bool
	Unfinished map[ItemTrial]bool // trials with paid calls but no verdict

	models []deem.Model // to be closed
}

// New builds the judge of a run, with the decorators around its models.
func New(s Setup) (*Run, error) {
	r := &Run{Setup: s}
	var asked []deem.Model
	var unpriced error
	for _, wire := range s.Choice.Wires() {
		unpriced = errors.Join(unpriced, s.Options.Affordable(wire.Name(), model.TierOf(wire)))
		if _, shared := wire.(telemetry.Limit); !shared {
			r.models = append(r.models, wire)
			wire = s.Telemetry.Wire(wire)
		}
		decorators := s.Options.Decorators(s.Store)
		decorators.Answered = func() bool { return r.Answered() } // It is known only after the run has begun.
		m := model.Assemble(wire, decorators)
		if s.Around != nil {
			m = s.Around(m)
		}
		asked = append(asked, s.Telemetry.Model(m))
	}
	err := unpriced
	if err == nil {
		r.Judge, err = s.Choice.Build(asked)
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

// Spec returns the spec of a run for the store, without its settings.
func Spec(c Choice, j deem.Judge, data store.DatasetSpec, trials int) (store.Spec, error) {
	who, err := Describe(j, !c.Asks())
	s := store.Spec{Judge: who, Dataset: data, Trials: trials}
	s.Model, s.Endpoint = c.Models()
	return s, err
}

// Describe returns the spec of a judge for the store. A rule is a judge that uses no model.
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

// Find returns the newest run with the given key, and reports whether there is one.
func Find(ctx context.Context, st store.Store, key string) (store.Run, bool, error) {
	for row, err := range st.Runs(ctx) {
		if err != nil || row.Key() == key {
			return row, err == nil, err
		}
	}
	return store.Run{}, false, nil
}

// Info describes a run for telemetry.
func Info(row store.Run, m deem.Model, concurrency int) telemetry.RunInfo {
	info := telemetry.RunInfo{
		ID: row.ID, Judge: row.Judge.Name, JudgeHash: row.Judge.Hash, Model: row.Model,
		Items: row.Dataset.Items, Trials: row.Trials, Concurrency: concurrency, Before: row.Records,
	}
	info.Limit, _ = model.As[telemetry.Limit](m)
	return info
}

// Begin claims the run. It returns an error if workers or batches have its requests. After
// an error, End must not be called.
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
		// The process died before it could remove them.
		err = ForgetBatch(ctx, st, r.ID)
	}
	if err == nil && !r.Setup.Batched {
		err = RefuseBatch(ctx, st, r.ID)
	}
	if err == nil {
		r.Unfinished, err = Unfinished(ctx, st, r.Run)
	}
	if b, keeps := st.(store.Money); err == nil && keeps && r.Setup.Options.Budget != nil {
		err = r.Setup.Options.Budget.Open(ctx, store.Purse(b, r.ID, store.Claimant, nil), r.CostMicros, r.SetAsideMicros)
	}
	if err != nil {
		return r.End(ctx, err)
	}
	return nil
}

// Do judges the items without a record. The job contains the items, when to stop, and the
// callbacks; Do sets the rest.
func (r *Run) Do(ctx context.Context, job Job) error {
	o := r.Setup.Options
	ctx, tel := r.Setup.Telemetry.Run(ctx, Info(r.Run, r.Model, o.Concurrency))
	each := job.Each
	job.Store, job.Run, job.Judge, job.RetryUnjudged = r.Setup.Store, r.Run, tel.Judge(r.Judge), o.RetryUnjudged
	job.Options.Concurrency, job.Options.Trials = o.Concurrency, o.Trials
	if !o.KeepGoing && !r.Setup.Batched { // The replies of a batch are paid for already.
		job.GiveUpAfter = giveUpAfter
	}
	job.Each = func(rec deem.Record) {
		tel.Add(rec)
		each(rec)
	}
	err := job.Do(ctx)
	tel.End(err)
	return err
}

// End returns money, and releases the models and the claim. It marks the run as done if err
// is nil, and otherwise returns err.
func (r *Run) End(ctx context.Context, err error) error {
	ctx = context.WithoutCancel(ctx)
	err = End(ctx, r.Setup.Store, r.Run, errors.Join(err, r.Close(), r.Setup.Options.Budget.Close(ctx)))
	if err == nil {
		err = ForgetBatch(ctx, r.Setup.Store, r.ID)
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

// End marks a run as done if err is nil. Otherwise it releases the claim, so that the run
// can be resumed later, and returns err.
func End(ctx context.Context, st store.Store, row store.Run, err error) error {
	if err != nil {
		// A claim that cannot be released ends with the process.
		_ = st.Release(row.ID)
		return err
	}
	return st.Finish(ctx, row.ID)
}
