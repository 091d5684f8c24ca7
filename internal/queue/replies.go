package queue

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/model"
)

// known is the reply cache of a worker. Most lookups find nothing, and one query for each
// would take more time than everything else, so one query looks up the keys of all
// concurrent lookups.
type known struct {
	c      *Control
	lookup batch[string, bool]
}

var _ model.ReplyCache = (*known)(nil)

func newKnown(c *Control) *known {
	k := &known{c: c}
	k.lookup.ask = k.ask
	return k
}

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
