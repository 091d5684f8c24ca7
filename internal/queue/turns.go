package queue

import (
	"context"
	"slices"
	"sync"

	"deem"
)

// turns limits how many items a worker judges at once, across runs. Items with a higher
// priority go first, and items with the same priority in order of arrival, so that runs
// with the same priority get equal shares of the worker.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting [Low + 1][]chan struct{} // by priority; a channel is closed when its owner gets a turn
}

// take waits for a turn, until the run stops or ctx is done.
func (t *turns) take(ctx context.Context, p Priority) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting[p] = append(t.waiting[p], turn)
	t.mu.Unlock()
	var err error
	select {
	case <-turn:
		return nil
	case <-deem.Stopping(ctx):
		err = deem.ErrStopped
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting[p], turn); i >= 0 {
		t.waiting[p] = slices.Delete(t.waiting[p], i, i+1)
	} else {
		t.pass() // The turn came meanwhile.
	}
	return err
}

// pass ends a turn and gives it to the next waiter. The caller holds the lock.
func (t *turns) pass() {
	for p, list := range t.waiting {
		if len(list) > 0 {
			close(list[0])
			t.waiting[p] = slices.Delete(list, 0, 1)
			return
		}
	}
	t.free++
}

// A waiter is a judge that waits for a turn before it judges an item.
type waiter struct {
	judge    deem.Judge
	w        *Worker
	priority Priority
}

// Name implements [deem.Judge].
func (j waiter) Name() string { return j.judge.Name() }

// Judge implements [deem.Judge].
func (j waiter) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := j.w.turns.take(ctx, j.priority); err != nil {
		return deem.Verdict{}, err
	}
	defer func() {
		j.w.turns.mu.Lock()
		j.w.turns.pass()
		j.w.turns.mu.Unlock()
	}()
	j.w.inFlight.Add(1)
	defer j.w.inFlight.Add(-1)
	return j.judge.Judge(ctx, it)
}
