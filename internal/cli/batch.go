package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os/signal"
	"strings"
	"time"

	"deem"
	"deem/internal/batch"
	"deem/internal/catalog"
	"deem/internal/plan"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/model"
)

// A batchOptions says whether requests go through the vendor's batches, and how.
type batchOptions struct {
	on   bool
	only bool // what no batch answers is not asked in another way
	size int
	poll time.Duration
}

// check refuses what makes no sense.
func (o *batchOptions) check() error {
	switch {
	case o.size < 0 || o.poll < 0:
		return usage.Errorf("--batch-size and --batch-poll cannot be negative")
	case !o.on && (o.only || o.size > 0 || o.poll > 0):
		return usage.Errorf("--batch-only, --batch-size and --batch-poll go with --batch")
	}
	return nil
}

// batchable refuses a model whose vendor takes no batches.
func (o runOptions) batchable(wire deem.Model) error {
	if _, ok := wire.(deem.Batcher); ok || !o.batch.on {
		return nil
	}
	return usage.Mark(deem.WithHint(fmt.Errorf("%s takes no batches", wire.Name()),
		"leave --batch out; openai:... and anthropic:... have batches"))
}

// batched puts what the batches bring around a model, outside the reply cache: a reply
// that this run has paid for in a batch goes before one that another run has.
func (o runOptions) batched(m deem.Model) deem.Model {
	cached, ok := model.As[*model.Cached](m)
	if !o.batch.on || !ok {
		return m
	}
	return batch.NewModel(m, cached.Key, o.batch.only)
}

// inBatches returns a plan at the price of batches.
func (o runOptions) inBatches(p plan.Plan) plan.Plan {
	if o.batch.on && p.BatchCostMicros != nil {
		p.CostMicros, p.CostMaxMicros = p.BatchCostMicros, p.BatchCostMaxMicros
	}
	return p
}

// planLine returns a plan in one line. Nobody knows how long a batch takes.
func (o runOptions) planLine(p plan.Plan) string {
	line := p.Line()
	if cut := strings.LastIndex(line, ", "); o.batch.on && p.Calls > 0 && cut >= 0 {
		return line[:cut] + ", in batches within a day"
	}
	return line
}

// underWay reports whether the run has batches already.
func underWay(ctx context.Context, st store.Store, run store.Run) (bool, error) {
	bs, ok := st.(store.Batches)
	if !ok {
		return false, nil
	}
	list, err := bs.Batches(ctx, run.ID)
	return len(list) > 0, err
}

// throughBatches takes the requests that a run misses through the vendor's batches, and
// lets the model answer from what came of them. Without --batch it only makes sure that
// nothing is paid for twice.
func (a *app) throughBatches(ctx context.Context, st store.Store, run store.Run, g catalog.Choice, m deem.Model, data items, o runOptions) error {
	bs, ok := st.(store.Batches)
	leaf, asks := g.Single()
	if !ok || !asks {
		return nil
	}
	if run.State == store.Done {
		// Batches of a run that was done are used up, but the process died before it
		// could forget them.
		if err := forgetBatches(ctx, bs, run.ID); err != nil {
			return err
		}
	}
	served, ok := model.As[*batch.Model](m)
	if !ok {
		return noBatches(ctx, bs, run)
	}
	served.Serve(bs, run.ID)
	err := a.runBatches(ctx, bs, a.missingRequests(ctx, st, run, leaf, m, data, o), run, leaf, m, o)
	if err != nil {
		return err
	}
	return a.settleBatches(ctx, bs, run, o)
}

// noBatches refuses to ask what is in a batch already.
func noBatches(ctx context.Context, bs store.Batches, run store.Run) error {
	list, err := bs.Batches(ctx, run.ID)
	if err != nil || len(list) == 0 {
		return err
	}
	return usage.Mark(deem.WithHint(fmt.Errorf("run %s has requests in batches, which would be paid for twice", run.ID),
		"go on with --batch, or start over with --fresh"))
}

// runBatches submits, waits and collects, until all is there or somebody interrupts.
func (a *app) runBatches(ctx context.Context, bs store.Batches, requests iter.Seq2[deem.Request, error], run store.Run, g catalog.Leaf, m deem.Model, o runOptions) error {
	cached, _ := model.As[*model.Cached](m)
	vendor, _ := g.Wire.(deem.Batcher)
	opts := batch.Options{
		Store: bs, RunID: run.ID, Vendor: vendor, Key: cached.Key, Requests: requests,
		Cost:     func(r deem.Reply) (int64, bool) { return o.prices.BatchCost(g.Wire.Name(), r.Usage) },
		MaxLines: o.batch.size, Poll: o.batch.poll,
		Tell: func(words string) { a.say("%s", words) },
	}
	if o.purse != nil {
		left := o.purse.Sum() - o.purse.Spent()
		opts.Budget = &left
		opts.Most = func(req deem.Request) int64 {
			most, _ := o.prices.BatchMost(g.Wire.Name(), req)
			return most
		}
	}
	bctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	if !o.deadline.IsZero() {
		var cancel context.CancelFunc
		bctx, cancel = context.WithDeadline(bctx, o.deadline)
		defer cancel()
	}
	err := batch.Run(bctx, opts)
	be, poor := errors.AsType[*batch.BudgetError](err)
	switch {
	case poor:
		return a.tooDear(be)
	case err != nil && bctx.Err() != nil && ctx.Err() == nil:
		a.say("batches that were submitted go on at the vendor; the same command picks them up")
		return deem.ErrStopped
	}
	return err
}

// tooDear says that the batches may cost more than is left. Nothing was submitted: a batch
// cannot be stopped at a sum, as calls can.
func (a *app) tooDear(e *batch.BudgetError) error {
	return deem.WithHint(fmt.Errorf("%s in batches may cost up to %s, and --max-cost leaves %s",
		words.Count(e.Lines, "request"), words.ExactDollars(e.Most), words.ExactDollars(max(0, e.Left))),
		"raise --max-cost, bound replies with --max-tokens, or leave --batch out: calls are paid one by one and stop at the sum")
}

// missingRequests yields what the judge will ask that neither the run nor the reply cache
// has.
func (a *app) missingRequests(ctx context.Context, st store.Store, run store.Run, g catalog.Leaf, m deem.Model, data items, o runOptions) iter.Seq2[deem.Request, error] {
	cached, _ := model.As[*model.Cached](m)
	known := func(req deem.Request) (bool, error) {
		if o.fresh || o.retryUnjudged {
			return false, nil
		}
		_, ok, err := st.Reply(ctx, cached.Key(req))
		return ok, err
	}
	return func(yield func(deem.Request, error) bool) {
		for it, err := range data.Items() {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(deem.Request{}, err)
				return
			}
			for _, req := range g.Requests(it) {
				for req.Trial = range o.trials {
					status, err := st.Status(ctx, run.ID, it.ID, req.Trial)
					if status == store.Judged || status == store.Unjudged && !o.retryUnjudged {
						continue
					}
					ok := false
					if err == nil {
						ok, err = known(req)
					}
					if ok && err == nil {
						continue
					}
					if !yield(req, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// settleBatches pays for the replies that no record has yet, and says what the batches
// brought.
func (a *app) settleBatches(ctx context.Context, bs store.Batches, run store.Run, o runOptions) error {
	list, err := bs.Batches(ctx, run.ID)
	if err != nil || len(list) == 0 {
		return err
	}
	var lines, replies int
	var owed int64
	for _, b := range list {
		lines, replies, owed = lines+b.Lines, replies+b.Replies, owed+b.OwedMicros
	}
	if o.purse != nil {
		o.purse.Spend(owed, 0)
	}
	said := fmt.Sprintf("batches answered %s of %s for %s", words.Comma(replies), words.Count(lines, "request"), words.ExactDollars(owed))
	if left := lines - replies; left > 0 && !o.batch.only {
		said += fmt.Sprintf("; what may be asked again of the other %s is asked in the ordinary way", words.Comma(left))
	}
	a.say("%s", said)
	return nil
}

// forgetBatches forgets the batches of a run that is done: records have what they brought.
func forgetBatches(ctx context.Context, st any, runID string) error {
	bs, ok := st.(store.Batches)
	if !ok {
		return nil
	}
	list, err := bs.Batches(ctx, runID)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.State != store.BatchCollected {
			continue
		}
		if err := bs.DropBatch(ctx, runID, b.Key); err != nil {
			return err
		}
	}
	return nil
}
