package queue

import (
	"context"
	"sync"
)

// A batch combines concurrent queries to the database: questions that arrive while a query
// is running are sent together in the next one. It has a goroutine while questions are
// waiting.
type batch[Q, A any] struct {
	// ask answers all questions, in order. It is called from one goroutine at a time.
	ask func(questions []Q) []A

	mu      sync.Mutex
	busy    bool
	waiting []asking[Q, A]
}

type asking[Q, A any] struct {
	question Q
	answer   chan A
}

// get asks a question and waits for the answer.
func (b *batch[Q, A]) get(ctx context.Context, q Q) (A, error) {
	answer := make(chan A, 1)
	b.mu.Lock()
	b.waiting = append(b.waiting, asking[Q, A]{q, answer})
	if !b.busy {
		b.busy = true
		go b.serve()
	}
	b.mu.Unlock()
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		var zero A
		return zero, ctx.Err()
	}
}

// serve answers questions until none are waiting.
func (b *batch[Q, A]) serve() {
	for {
		b.mu.Lock()
		list := b.waiting
		b.waiting = nil
		b.busy = len(list) > 0
		b.mu.Unlock()
		if len(list) == 0 {
			return
		}
		questions := make([]Q, len(list))
		for i, a := range list {
			questions[i] = a.question
		}
		for i, a := range b.ask(questions) {
			list[i].answer <- a
		}
	}
}
