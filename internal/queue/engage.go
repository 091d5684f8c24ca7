package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"deem"
	"deem/internal/model"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/telemetry"
)

// An engagement holds what a worker needs to judge the items of one run: the judge, built
// from its identity, with its models, limits and budget. All chunks of the run share it. It
// begins before the worker listens to the queue of the run, and ends after the worker has
// stopped listening and has returned all chunks.
type engagement struct {
	w       *Worker
	run     store.Run
	o       Options
	changed time.Time
	judge   deem.Judge

	ctx context.Context //nolint:containedctx // in which all chunks of the run are judged
	tel *telemetry.Run

	share *share      // nil if concurrent calls are not limited
	money *run.Budget // nil without one

	models []deem.Model // the open models
	asks   deem.Model   // the only one of models, with its decorators; nil if there are several

	halted context.Context // done when no further item may be taken
	stop   context.CancelFunc
}

// newEngagement returns an engagement for a run. Unless the error is transient, it says why
// this worker cannot judge the run.
func (w *Worker) newEngagement(ctx context.Context, runID string) (*engagement, error) {
	e := &engagement{w: w}
	var options string
	err := w.c.pool.QueryRow(ctx, `SELECT options, changed_at FROM queue_runs WHERE run = $1`, runID).Scan(&options, &e.changed)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(options), &e.o); err != nil {
		return nil, fmt.Errorf("read the options of run %s: %w", runID, err)
	}
	if e.run, err = w.c.st.Run(ctx, runID); err != nil {
		return nil, err
	}
	e.halted, e.stop = context.WithCancel(context.Background())
	if e.o.Concurrency > 0 {
		e.share = w.c.newShare(runID, w.id, w.o.Dead*2/3)
	}
	if e.o.MaxMicros != nil {
		// The previous engagement may still hold money when the next one begins.
		e.money, err = run.ShareBudget(ctx, store.Purse(w.c.st, runID, fmt.Sprintf("%s#%d", w.id, w.engagements.Add(1)), passing), *e.o.MaxMicros)
		if err != nil {
			return nil, err
		}
	}
	j, err := w.o.Judge(e.run.Judge, e.open)
	if err != nil {
		e.stop()
		return nil, errors.Join(err, e.closeModels(), e.money.Close(ctx))
	}
	if len(e.models) > 1 {
		e.asks = nil
	}
	e.ctx, e.tel = w.o.Telemetry.Run(w.hard, run.Info(e.run, e.asks, w.o.Slots))
	e.judge = e.tel.Judge(j)
	return e, nil
}

// open opens a model with the keys of this worker and adds the decorators. The model must
// be at the same address, with the same settings, as in the run.
func (e *engagement) open(name, settings string) (deem.Model, error) {
	i := slices.IndexFunc(e.o.Models, func(m Model) bool { return m.Name == name && m.Settings == settings })
	if i < 0 {
		return nil, fmt.Errorf("the run does not say how %s was reached", name)
	}
	m := e.o.Models[i]
	wire, err := e.w.o.Open(m, e.o.Timeout)
	if err != nil {
		return nil, err
	}
	e.models = append(e.models, wire)
	at := model.Endpoint(wire)
	if at := store.CleanEndpoint(at); at != m.Endpoint {
		return nil, fmt.Errorf("the run asks %s at %s, and this worker would ask it at %s", name, cmp.Or(m.Endpoint, "no address"), cmp.Or(at, "no address"))
	}
	if got := deem.SettingsOf(wire); got != settings {
		return nil, fmt.Errorf("the run asks %s with the settings %s, and this worker would ask with %s", name, settings, got)
	}
	how := run.Options{Concurrency: e.w.o.Slots, Retries: e.o.Retries, Prices: e.o.Prices, Fresh: e.o.Fresh, RetryUnjudged: e.o.RetryUnjudged, Budget: e.money}
	o := how.Decorators(e.w.known)
	o.Limit.Fleet, o.Answered = e.w.c.newLimit(m, e.o, e.share), e.run.Answered
	e.asks = e.w.o.Telemetry.Model(model.Assemble(e.w.o.Telemetry.Wire(wire), o))
	return e.asks, nil
}

// end returns everything the engagement holds. No chunk may be in progress.
func (e *engagement) end(ctx context.Context) error {
	e.stop()
	e.tel.End(nil)
	errs := []error{e.money.Close(ctx)}
	if e.share != nil {
		_, err := e.w.c.pool.Exec(ctx, `DELETE FROM queue_shares WHERE run = $1 AND worker = $2`, e.run.ID, e.w.id)
		errs = append(errs, err)
	}
	return errors.Join(append(errs, e.closeModels())...)
}

func (e *engagement) closeModels() error {
	var errs []error
	for _, m := range e.models {
		if c, ok := m.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	e.models = nil
	return errors.Join(errs...)
}
