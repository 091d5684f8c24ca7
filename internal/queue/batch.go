package queue

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/model"
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

// known is the reply cache of a worker. Most lookups find nothing, and one query for each
// would take more time than everything else, so one query looks up the keys of all
// concurrent lookups.
type known struct {
	c      *Control
	lookup batch[string, bool]
}

var _ model.ReplyCache = (*known)(nil)

// Reply implements [model.ReplyCache].
func (k *known) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	if there, err := k.lookup.get(ctx, key); err != nil || !there {
		return deem.Reply{}, false, err
	}
	return k.c.st.Reply(ctx, key)
}

// ask reports which keys may have a reply. If the database does not answer, all may: the
// store is asked next, and waits longer.
func (k *known) ask(keys []string) []bool {
	ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
	defer cancel()
	there := map[string]bool{}
	rows, err := k.c.pool.Query(ctx, `SELECT key FROM replies WHERE key = ANY ($1::text[])`, keys)
	if err == nil {
		var key string
		_, err = pgx.ForEachRow(rows, []any{&key}, func() error {
			there[key] = true
			return nil
		})
	}
	list := make([]bool, len(keys))
	for i, key := range keys {
		list[i] = err != nil || there[key] || strings.ContainsAny(key, "\x00\x01") // the store encodes these keys differently
	}
	return list
}

// beatTimeout is the timeout of frequent queries. A server that takes longer is treated as
// unavailable.
const beatTimeout = 5 * time.Second
