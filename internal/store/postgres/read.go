package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// Status implements [store.Store].
func (s *Store) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return store.Missing, s.explain("read", err)
	}
	status := store.Missing
	err = s.retry(ctx, func(ctx context.Context) error {
		var failed bool
		err := s.pool.QueryRow(ctx, `SELECT kind IS NOT NULL FROM records WHERE item_key = $1 AND trial = $2`,
			keyOf(run, itemID), trial).Scan(&failed)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			status, err = store.Missing, nil
		case failed:
			status = store.Unjudged
		default:
			status = store.Judged
		}
		return err
	})
	if err != nil {
		return store.Missing, s.explain("read", err)
	}
	return status, nil
}

// Reply implements [store.Store].
func (s *Store) Reply(ctx context.Context, key string) (reply deem.Reply, ok bool, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		var c store.ReplyColumns
		var sum []byte
		key := pack(key)
		row := s.pool.QueryRow(ctx, `SELECT body, latency, attempts, cost_micros, unpriced, sum FROM replies WHERE key = $1`, key)
		err := row.Scan(&c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &sum)
		if errors.Is(err, pgx.ErrNoRows) {
			ok = false
			return nil
		}
		if err == nil && !bytes.Equal(sum, sealReply(key, c)) {
			err = altered("the reply with the key %q", unpack(key))
		}
		if err != nil {
			return err
		}
		r, err := c.Reply(unpack(key), false)
		reply, ok = *r, true
		return err
	})
	return reply, ok, s.explain("read", err)
}

// replyColumns returns the columns of a reply with the given body.
func replyColumns(r *deem.Reply, body string) store.ReplyColumns {
	return store.ReplyColumns{Body: &body, Latency: new(int64(r.Latency)), Attempts: new(int64(r.Attempts)), Cost: &r.CostMicros, Unpriced: &r.Unpriced}
}

// loadCalls reads the calls of records. It reads as many of each as the record had when it
// was read: a record that was replaced since has its new calls after those.
func (s *Store) loadCalls(ctx context.Context, page []found, brief bool) error {
	numbers, places := make([]int64, len(page)), make(map[int64]*found, len(page))
	for i := range page {
		f := &page[i]
		numbers[i], places[f.n] = f.n, f
		f.rec.Calls, f.now, f.seen = nil, 0, 0
	}
	rows, err := s.pool.Query(ctx, `SELECT o.n, o.item_key, o.trial, o.calls, c.seq, c.model, c.request, c.error, c.started, c.tries,
		coalesce(c.reply_key, r.key), coalesce(c.reply_inline, r.body), c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached, c.sum
		FROM records o LEFT JOIN calls c ON c.record = o.n LEFT JOIN replies r ON r.n = c.reply WHERE o.n = ANY ($1::bigint[])
		ORDER BY c.record, c.seq`, numbers)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var c callRow
		var record, trial int64
		var now int
		var seq, tries *int64
		var item, sum []byte
		var model, request, failed *string
		err := rows.Scan(&record, &item, &trial, &now, &seq, &model, &request, &failed, &c.started, &tries,
			&c.key, &c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &c.cached, &sum)
		if err != nil {
			return err
		}
		f, ok := places[record]
		if !ok {
			return altered("the list of calls") // An index led to another record.
		}
		if f.now = now; seq == nil {
			continue // The record has no calls.
		}
		if f.seen++; f.seen > f.calls {
			continue
		}
		c.model, c.request, c.err, c.tries = *model, *request, *failed, *tries
		if !bytes.Equal(sum, c.seal(item, trial)) || int(*seq) != len(f.rec.Calls) {
			return altered("call %d about item %q", *seq+1, f.rec.Item.ID)
		}
		call := deem.Call{Model: unpack(c.model), Request: unpack(c.request), Started: store.TimeOf(c.started), Error: unpack(c.err), Attempts: int(c.tries)}
		if call.Reply, err = c.Reply(unpackNull(c.key), brief); err != nil {
			return err
		}
		if call.Reply != nil {
			call.Reply.Cached = *c.cached
		}
		f.rec.Calls = append(f.rec.Calls, call)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range page {
		if f := &page[i]; f.seen != f.now || len(f.rec.Calls) != f.calls {
			return altered("how many calls were made about item %q", f.rec.Item.ID)
		}
	}
	return nil
}

// A textRef says which text belongs to a place. In JSON it is a list.
type textRef struct {
	hash store.TextSum
	size int // in bytes
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *textRef) UnmarshalJSON(raw []byte) error {
	var digits string
	if err := json.Unmarshal(raw, &[]any{&digits, &r.size}); err != nil {
		return err
	}
	hash, err := hex.DecodeString(digits)
	if err != nil || len(hash) != len(r.hash) {
		return fmt.Errorf("%q is not a hash of a text", digits)
	}
	r.hash = store.TextSum(hash)
	return nil
}

// A textCache caches the texts that one query read last, so that neighbours that share a
// text cost one query and one string.
type textCache struct {
	bodies map[store.TextSum]string
	size   int
}

// keptBytes limits the cache of one query.
const keptBytes = 4 << 20

// fillTexts restores the long texts of records. Texts are never changed or removed, so it
// does not matter when they are read.
func (s *Store) fillTexts(ctx context.Context, page []found, cache *textCache) error {
	if cache.bodies == nil || cache.size > keptBytes {
		*cache = textCache{bodies: map[store.TextSum]string{}}
	}
	wanted := map[store.TextSum]bool{}
	var hashes [][]byte
	for i := range page {
		for _, ref := range page[i].places {
			if _, ok := cache.bodies[ref.hash]; !ok && !wanted[ref.hash] {
				wanted[ref.hash] = true
				hashes = append(hashes, ref.hash[:])
			}
		}
	}
	if len(hashes) > 0 {
		err := s.retry(ctx, func(ctx context.Context) error {
			rows, err := s.pool.Query(ctx, `SELECT hash, body FROM texts WHERE hash = ANY ($1::bytea[])`, hashes)
			if err != nil {
				return err
			}
			var hash, text []byte
			_, err = pgx.ForEachRow(rows, []any{&hash, &text}, func() error {
				if sum := store.TextSum(hash); sha256.Sum256(text) == sum { // A changed text counts as not found.
					cache.bodies[sum] = string(text)
					cache.size += len(text)
				}
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	for i := range page {
		it := &page[i].rec.Item
		for place, ref := range page[i].places {
			text, ok := cache.bodies[ref.hash]
			if !ok || len(text) != ref.size {
				return altered("a text of item %q", it.ID)
			}
			if err := store.PutBackText(it, place, text); err != nil {
				return fmt.Errorf("read texts of item %q: %w", it.ID, err)
			}
		}
	}
	return nil
}
