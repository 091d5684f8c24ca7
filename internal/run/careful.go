package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"sync"

	"deem"
	"deem/internal/store"
)

// A careful judge wraps a judge and keeps its calls if it ends early.
//
// A judge that makes several calls may end between two of them, because of an error that
// ends the run or because it is cancelled. The item then has no record for its calls,
// although they were paid for. So they are kept here.
//
// A panic of the judge ends the run but not the process, which has other records to store.
type careful struct {
	judge deem.Judge
	rule  bool // It makes no calls, or one for all items.

	mu   sync.Mutex
	left []deem.Record // of kind [store.Unfinished]
	row  failureRow
}

var _ deem.Judge = (*careful)(nil)

// Name returns the name of the inner judge.
func (c *careful) Name() string { return c.judge.Name() }

// Judge calls the inner judge with a separate ledger, because the ledger of the run must
// not contain items without a record.
func (c *careful) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := c.givenUp(); err != nil {
		return deem.Verdict{}, err
	}
	if c.rule {
		v, err := c.ask(ctx, it)
		c.count(ctx, it, nil, err)
		return v, err
	}
	own, calls := deem.WithLedger(ctx, deem.TrialOf(ctx))
	v, err := c.ask(own, it)
	made := calls()
	for _, call := range made {
		deem.NoteCall(ctx, call)
	}
	c.count(ctx, it, made, err)
	paid := func(c deem.Call) bool { return c.Reply != nil && !c.Reply.Cached } // A cached reply was paid for earlier.
	if _, judged := errors.AsType[*deem.Failure](err); err == nil || judged && ctx.Err() == nil || !slices.ContainsFunc(made, paid) {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = append(c.left, deem.Record{
		Item: it, Judge: c.judge.Name(), Trial: deem.TrialOf(ctx), Calls: made,
		Failure: deem.Failf(store.Unfinished, "%v", err),
	})
	return v, err
}

// count counts the outcome of an item, so that the run ends before another worker asks in
// vain. An interruption says nothing about the judge.
func (c *careful) count(ctx context.Context, it deem.Item, made []deem.Call, err error) {
	f, failed := errors.AsType[*deem.Failure](err)
	if ctx.Err() != nil || err != nil && !failed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row.add(it.ID, f, made)
}

// givenUp returns the error of a run that has given up, or nil.
func (c *careful) givenUp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.row.over
}

// A PanicError is the error of a judge that panicked, which is a bug.
type PanicError struct {
	Judge, Item string
	Value       any
	Stack       []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("judge %s panicked on item %q, which is a bug: %v", e.Judge, e.Item, e.Value)
}

// ask calls the inner judge, and turns a panic into an error.
func (c *careful) ask(ctx context.Context, it deem.Item) (v deem.Verdict, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{c.judge.Name(), it.ID, value, debug.Stack()}
		}
	}()
	return c.judge.Judge(ctx, it)
}

// place sets the positions of the remaining records. It reads items again if there are any.
func (c *careful) place(items iter.Seq2[deem.Item, error]) error {
	if len(c.left) == 0 {
		return nil
	}
	wanted := map[string]int{}
	for _, rec := range c.left {
		wanted[rec.Item.ID] = -1
	}
	position, missing := 0, len(wanted)
	for it, err := range items {
		if err != nil {
			return err
		}
		if at, ok := wanted[it.ID]; ok && at < 0 {
			wanted[it.ID] = position
			missing--
		}
		if position++; missing == 0 {
			break
		}
	}
	for i := range c.left {
		c.left[i].Position = max(wanted[c.left[i].Item.ID], 0)
	}
	return nil
}
