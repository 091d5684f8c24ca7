package queue

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"deem"
)

// turns bound how many items a worker judges at once, whichever runs they belong to.
// Items of a higher priority go first, and those of one priority in the order in which
// they came.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting [Low + 1]*list.List // of chan struct{}, by priority
}

func newTurns(n int) *turns {
	t := &turns{free: n}
	for i := range t.waiting {
		t.waiting[i] = list.New()
	}
	return t
}

// errGivenBack is what an item gets that has no turn yet when its chunk is given back.
var errGivenBack = errors.New("the chunk is given back")

// take waits for a turn, until ctx or stop is done.
func (t *turns) take(ctx context.Context, p Priority, stop <-chan struct{}) error {
	select {
	case <-stop:
		return errGivenBack
	default:
	}
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	e := t.waiting[p].PushBack(turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-stop:
		t.leave(p, e)
		return errGivenBack
	case <-ctx.Done():
		t.leave(p, e)
		return ctx.Err()
	}
}

// leave gives up waiting. A turn that came meanwhile goes to the next.
func (t *turns) leave(p Priority, e *list.Element) {
	t.mu.Lock()
	select {
	case <-e.Value.(chan struct{}): //nolint:forcetypeassert // Only take adds.
		t.mu.Unlock()
		t.give()
	default:
		t.waiting[p].Remove(e)
		t.mu.Unlock()
	}
}

// give ends a turn.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.waiting {
		if e := l.Front(); e != nil {
			close(l.Remove(e).(chan struct{})) //nolint:forcetypeassert // Only take adds.
			return
		}
	}
	t.free++
}

// A waiter is a judge whose items wait for their turns.
type waiter struct {
	judge    deem.Judge
	w        *Worker
	priority Priority
	stop     <-chan struct{}
}

// Name implements [deem.Judge].
func (j waiter) Name() string { return j.judge.Name() }

// Judge implements [deem.Judge].
func (j waiter) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	if err := j.w.turns.take(ctx, j.priority, j.stop); err != nil {
		return deem.Verdict{}, err
	}
	defer j.w.turns.give()
	j.w.inFlight.Add(1)
	defer j.w.inFlight.Add(-1)
	return j.judge.Judge(ctx, it)
}
