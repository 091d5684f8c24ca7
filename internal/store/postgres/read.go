package postgres

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/body"
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
		var p paid
		row := s.pool.QueryRow(ctx, `SELECT body, latency, attempts, cost_micros, unpriced FROM replies WHERE key = $1`, pack(key))
		err := row.Scan(&p.body, &p.latency, &p.attempts, &p.cost, &p.unpriced)
		if errors.Is(err, pgx.ErrNoRows) {
			ok = false
			return nil
		}
		if err != nil {
			return err
		}
		ok = true
		reply, err = p.reply(unpack(pack(key)))
		return err
	})
	return reply, ok, s.explain("read", err)
}

// paid is a reply as rows have it, all of it NULL when there is none.
type paid struct {
	body                    *string
	latency, attempts, cost *int64
	unpriced                *bool
}

// reply returns the reply, which there is, with its key.
func (p *paid) reply(key string) (deem.Reply, error) {
	r, err := body.DecodeReply(*p.body)
	if p.latency != nil && p.attempts != nil && p.cost != nil && p.unpriced != nil {
		r.Latency, r.Attempts, r.CostMicros, r.Unpriced = time.Duration(*p.latency), int(*p.attempts), *p.cost, *p.unpriced
	}
	r.Key = key
	return r, err
}

// loadCalls reads the calls of records. It reads as many of each as the record had when
// it was read itself: a record that was replaced since has its new calls behind those.
func (s *Store) loadCalls(ctx context.Context, page []found) error {
	var numbers []int64
	places := make(map[int64]*found, len(page))
	for i := range page {
		if f := &page[i]; f.calls > 0 {
			numbers = append(numbers, f.n)
			places[f.n] = f
			f.rec.Calls = make([]deem.Call, f.calls)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	rows, err := s.pool.Query(ctx, `SELECT c.record, c.seq, c.model, c.request, c.started, c.error, c.tries,
		coalesce(c.reply_inline, r.body), coalesce(c.reply_key, r.key), c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached
		FROM calls c LEFT JOIN replies r ON r.n = c.reply WHERE c.record = ANY ($1::bigint[])`, numbers)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scanCall(rows, places); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanCall reads a call into its place.
func scanCall(row pgx.Row, places map[int64]*found) error {
	var c deem.Call
	var record int64
	var seq int
	var started *int64
	var p paid
	var key *string
	var cached *bool
	err := row.Scan(&record, &seq, &c.Model, &c.Request, &started, &c.Error, &c.Attempts,
		&p.body, &key, &p.latency, &p.attempts, &p.cost, &p.unpriced, &cached)
	if err != nil {
		return err
	}
	f := places[record]
	if seq >= f.calls {
		return nil
	}
	c.Started = timeOf(started)
	c.Model, c.Request, c.Error = unpack(c.Model), unpack(c.Request), unpack(c.Error)
	if p.body != nil {
		r, err := p.reply(unpackNull(key))
		if err != nil {
			return err
		}
		r.Cached = cached != nil && *cached
		c.Reply = &r
	}
	f.rec.Calls[seq] = c
	return nil
}

// A textRef says which text goes to a place. It is a list in JSON.
type textRef struct {
	hash body.Sum
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
		return fmt.Errorf("%q is no hash of a text", digits)
	}
	r.hash = body.Sum(hash)
	return nil
}

// A textCache remembers the texts that one query read last, so that neighbours which
// share a text cost one query and one string.
type textCache struct {
	bodies map[body.Sum]string
	size   int
}

// keptBytes bounds what one query remembers.
const keptBytes = 4 << 20

// fillTexts puts the long texts of records back.
func (s *Store) fillTexts(ctx context.Context, page []found, cache *textCache) error {
	if err := s.readTexts(ctx, page, cache); err != nil {
		return err
	}
	for i := range page {
		it := &page[i].rec.Item
		for place, ref := range page[i].places {
			text, ok := cache.bodies[ref.hash]
			if !ok {
				return deem.WithHint(fmt.Errorf("the database is damaged: a text of item %q is missing", it.ID), "restore a copy of it")
			}
			if err := body.PutBack(it, place, text); err != nil {
				return fmt.Errorf("read texts of item %q: %w", it.ID, err)
			}
		}
	}
	return nil
}

// readTexts reads the texts of records that the cache does not have. Texts are never
// changed or removed, so it does not matter when they are read.
func (s *Store) readTexts(ctx context.Context, page []found, cache *textCache) error {
	if cache.size > keptBytes {
		*cache = textCache{}
	}
	wanted := map[body.Sum]bool{}
	var hashes [][]byte
	for i := range page {
		for _, ref := range page[i].places {
			if _, ok := cache.bodies[ref.hash]; !ok && !wanted[ref.hash] {
				wanted[ref.hash] = true
				hashes = append(hashes, ref.hash[:])
			}
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	return s.retry(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT hash, body FROM texts WHERE hash = ANY ($1::bytea[])`, hashes)
		if err != nil {
			return err
		}
		var hash, text []byte
		_, err = pgx.ForEachRow(rows, []any{&hash, &text}, func() error {
			cache.put(body.Sum(hash), string(text))
			return nil
		})
		return err
	})
}

func (c *textCache) put(hash body.Sum, text string) {
	if c.bodies == nil {
		c.bodies = map[body.Sum]string{}
	}
	c.bodies[hash] = text
	c.size += len(text)
}
