package queue

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/model"
)

// known is the reply cache of a worker. Most replies that are looked for are not there,
// and one query for each would take more time than everything else, so that one query
// looks for the keys of all who ask at the same moment.
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

// ask returns which keys may have a reply. Where the database does not answer, all may:
// the store finds out, with more patience.
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
		list[i] = err != nil || there[key] || strings.ContainsAny(key, "\x00\x01") // which the store writes in another way
	}
	return list
}

// beatTimeout bounds what is asked of the database many times: a server that takes longer
// is as good as away.
const beatTimeout = 5 * time.Second
