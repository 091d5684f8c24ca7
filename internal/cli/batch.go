package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os/signal"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/wire"
	"deem/internal/words"
)

// A batchOptions says whether and how requests go through the vendor's batch API.
type batchOptions struct {
	on   bool
	only bool // do not call the model for requests that no batch answered
	size int
	poll time.Duration
}

// check rejects invalid options.
func (o *batchOptions) check() error {
	switch {
	case o.size < 0 || o.poll < 0:
		return usage.Errorf("--batch-size and --batch-poll cannot be negative")
	case !o.on && (o.only || o.size > 0 || o.poll > 0):
		return usage.Errorf("--batch-only, --batch-size and --batch-poll go with --batch")
	}
	return nil
}

// batched adds the replies of batches to a model, outside the reply cache: a reply that
// this run has paid for in a batch takes precedence over one of another run.
func (o runOptions) batched(m deem.Model) deem.Model {
	if !o.batch.on {
		return m
	}
	return run.NewBatchModel(m, o.batch.only)
}

// throughBatches sends the missing requests of a run through the vendor's batch API, if
// enabled, makes the model answer from the results, and pays for them.
func (a *app) throughBatches(ctx context.Context, r *run.Run, g catalog.Choice, data items, o runOptions) error {
	bs, ok := r.Setup.Store.(store.Batches)
	served, asks := model.As[*run.BatchModel](r.Model)
	if !ok || !asks {
		return nil
	}
	served.Serve(bs, r.ID)
	done, err := run.Done(ctx, r.Setup.Store, r.Run, o.RetryUnjudged)
	if err != nil {
		return err
	}
	leaf, _ := g.Single()
	vendor, _ := leaf.Wire.(wire.Batcher)
	price, priced := o.Prices.Of(vendor.Name(), "")
	opts := run.BatchOptions{
		Store: bs, RunID: r.ID, Vendor: vendor, Requests: missingRequests(ctx, r, leaf, data, done),
		Cost:     func(r deem.Reply) (int64, bool) { return price.InBatch(price.Cost(r.Usage)), priced },
		MaxLines: o.batch.size, Poll: o.batch.poll,
		Tell: func(words string) { a.say("%s", words) },
	}
	if o.Budget != nil {
		left := o.Budget.Sum() - o.Budget.Spent()
		opts.Budget = &left
		opts.Most = func(req deem.Request) int64 { return price.InBatch(price.Cost(model.MostUsage(vendor.Name(), req))) }
	}
	bctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	if !o.deadline.IsZero() {
		var cancel context.CancelFunc
		bctx, cancel = context.WithDeadline(bctx, o.deadline)
		defer cancel()
	}
	err = run.Batch(bctx, opts)
	interrupted := bctx.Err() != nil && ctx.Err() == nil
	stop()
	be, poor := errors.AsType[*run.BudgetError](err)
	switch {
	case poor: // Nothing was submitted: unlike calls, a batch cannot be stopped at a limit.
		return deem.WithHint(fmt.Errorf("%s in batches may cost up to %s, and --max-cost leaves %s",
			words.Count(be.Lines, "request"), words.ExactDollars(be.Most), words.ExactDollars(max(0, be.Left))),
			"raise --max-cost, bound replies with --max-tokens, or leave --batch out: calls are paid one by one and stop at the sum")
	case err != nil && interrupted:
		a.say("submitted batches continue at the vendor; the same command picks them up")
		return deem.ErrStopped
	case err != nil:
		return err
	}
	list, err := bs.Batches(ctx, r.ID)
	if err != nil || len(list) == 0 {
		return err
	}
	var lines, replies int
	var owed int64 // for the replies that have no record yet
	for _, b := range list {
		lines, replies, owed = lines+b.Lines, replies+b.Replies, owed+b.OwedMicros
	}
	said := fmt.Sprintf("batches answered %s of %s for %s", words.Comma(replies), words.Count(lines, "request"), words.ExactDollars(owed))
	if left := lines - replies; left > 0 && !o.batch.only {
		said += fmt.Sprintf("; what may be asked again of the other %s is asked in the ordinary way", words.Comma(left))
	}
	a.say("%s", said)
	return nil
}

// missingRequests yields the requests of the judge that are neither in the run nor in the
// reply cache.
func missingRequests(ctx context.Context, r *run.Run, g catalog.Leaf, data items, done func(context.Context, deem.Item, int) (bool, error)) iter.Seq2[deem.Request, error] {
	o := r.Setup.Options
	known := func(it deem.Item, req deem.Request) (bool, error) {
		if ok, err := done(ctx, it, req.Trial); ok || err != nil || o.Fresh || o.RetryUnjudged {
			return ok, err
		}
		_, ok, err := r.Setup.Store.Reply(ctx, model.Key(g.Wire, req))
		return ok, err
	}
	return func(yield func(deem.Request, error) bool) {
		for it, err := range data.Items() {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				yield(deem.Request{}, err)
				return
			}
			for _, req := range g.Requests(it) {
				for req.Trial = range o.Trials {
					ok, err := known(it, req)
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
