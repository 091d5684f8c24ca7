package queue

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/model"
)

// A batch combines concurrent queries to the database: questions that arrive while a query
// is running are sent together in the next one. It has a goroutine while questions are
// waiting.
type batch[Q, A any] struct {
	// ask answers all questions, in order. It is called from one goroutine at a time.
	ask func(questions []Q) []A

	mu        sync.Mutex
	busy      bool
	questions []Q // that are waiting
	answers   []chan A
}

// get asks a question and waits for the answer.
func (b *batch[Q, A]) get(ctx context.Context, q Q) (A, error) {
	answer := make(chan A, 1)
	b.mu.Lock()
	b.questions, b.answers = append(b.questions, q), append(b.answers, answer)
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
		questions, answers := b.questions, b.answers
		b.questions, b.answers = nil, nil
		b.busy = len(questions) > 0
		b.mu.Unlock()
		if len(questions) == 0 {
			return
		}
		for i, a := range b.ask(questions) {
			answers[i] <- a
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
