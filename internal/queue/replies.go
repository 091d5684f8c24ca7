package queue

import (
	"context"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
	"deem/model"
)

// known is the reply cache of a worker. Most replies that are looked for are not there,
// and to find that out one by one would cost more than all else. So those who ask while
// the database is being asked are asked for together next. While somebody asks it owns a
// goroutine, which ends by itself when nobody does.
type known struct {
	c *Control

	mu      sync.Mutex
	busy    bool
	waiting *lookup
}

// A lookup is a question about several keys.
type lookup struct {
	keys  []string
	over  chan struct{} // closed when the rest is set
	found map[string]bool
	err   error
}

var _ model.ReplyCache = (*known)(nil)

// Reply implements [model.ReplyCache].
func (k *known) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	l := k.join(key)
	select {
	case <-l.over:
	case <-ctx.Done():
		return deem.Reply{}, false, ctx.Err()
	}
	// What went wrong here the store finds out, with more patience.
	if l.err == nil && !l.found[key] && !strings.ContainsAny(key, "\x00\x01") {
		return deem.Reply{}, false, nil
	}
	return store.Store(k.c.st).Reply(ctx, key)
}

// join adds a key to the next question, and asks it if nobody does.
func (k *known) join(key string) *lookup {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting == nil {
		k.waiting = &lookup{over: make(chan struct{})}
	}
	l := k.waiting
	l.keys = append(l.keys, key)
	if !k.busy {
		k.busy = true
		go k.ask()
	}
	return l
}

// ask asks one question after the other, until there is none.
func (k *known) ask() {
	for {
		k.mu.Lock()
		l := k.waiting
		k.waiting = nil
		if l == nil {
			k.busy = false
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), beatTimeout)
		l.found, l.err = k.c.haveReplies(ctx, l.keys)
		cancel()
		close(l.over)
	}
}

// haveReplies returns which keys have a reply.
func (c *Control) haveReplies(ctx context.Context, keys []string) (map[string]bool, error) {
	rows, err := c.pool.Query(ctx, `SELECT key FROM replies WHERE key = ANY ($1::text[])`, keys)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	found := make(map[string]bool, len(list))
	for _, key := range list {
		found[key] = true
	}
	return found, err
}
