package conduct

import (
	"context"
	"errors"
	"iter"
	"sync"

	"deem"
	"deem/internal/store"
)

// A Salvage is a judge that remembers the replies which it got about items that it could
// not finish. A judge that asks several times may be stopped between two calls, by an
// error that ends the run or by whoever cancels it. The item is then not done, and has no
// record in which its calls could stand; but they were paid for.
type Salvage struct {
	judge deem.Judge

	mu   sync.Mutex
	left []deem.Record
}

// NewSalvage returns a judge that says what j says.
func NewSalvage(j deem.Judge) *Salvage { return &Salvage{judge: j} }

// Name returns the name of the judge.
func (s *Salvage) Name() string { return s.judge.Name() }

// Judge asks the judge, with a ledger of its own: that of the run is not told of items
// that have no record.
func (s *Salvage) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	own, calls := deem.WithLedger(ctx, deem.TrialOf(ctx))
	v, err := s.judge.Judge(own, it)
	made := calls()
	for _, c := range made {
		deem.NoteCall(ctx, c)
	}
	if _, judged := errors.AsType[*deem.Failure](err); err == nil || judged && ctx.Err() == nil || !paid(made) {
		return v, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, deem.Record{
		Item: it, Judge: s.judge.Name(), Trial: deem.TrialOf(ctx), Calls: made,
		Failure: deem.Failf(store.Unfinished, "%v", err),
	})
	return v, err
}

// paid reports whether a model was asked and answered. A reply from the cache was paid
// for before.
func paid(calls []deem.Call) bool {
	for _, c := range calls {
		if c.Reply != nil && !c.Reply.Cached {
			return true
		}
	}
	return false
}

// Left returns a record of kind [store.Unfinished] for each item that was not finished
// although something was paid for it. Positions are those in items, which are read once
// more if there are any.
func (s *Salvage) Left(items iter.Seq2[deem.Item, error]) ([]deem.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 {
		return nil, nil
	}
	wanted := map[string]int{}
	for _, rec := range s.left {
		wanted[rec.Item.ID] = -1
	}
	position, missing := 0, len(wanted)
	for it, err := range items {
		if err != nil {
			return nil, err
		}
		if at, ok := wanted[it.ID]; ok && at < 0 {
			wanted[it.ID] = position
			missing--
		}
		if position++; missing == 0 {
			break
		}
	}
	for i := range s.left {
		s.left[i].Position = max(wanted[s.left[i].Item.ID], 0)
	}
	return s.left, nil
}
