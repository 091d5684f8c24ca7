package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deem"
	"deem/internal/store"
)

// readStatements are the queries that are made for every item of a run.
type readStatements struct {
	find, reply, calls, text *sql.Stmt
}

func (st *readStatements) list() []statement {
	return []statement{
		{&st.find, `SELECT n, kind IS NOT NULL FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.reply, `SELECT body, latency, attempts, cost_micros, unpriced FROM replies WHERE key = ?`},
		{&st.calls, `SELECT c.model, c.request, c.started, c.error, c.tries,
			coalesce(c.reply_inline, r.body), coalesce(c.reply_key, r.key), c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached
			FROM calls c LEFT JOIN replies r ON r.n = c.reply
			WHERE c.record = ? AND c.seq < ? ORDER BY c.seq`},
		{&st.text, `SELECT body FROM texts WHERE n = ?`},
	}
}

func (st *readStatements) prepare(ctx context.Context, db *sql.DB) error {
	return prepareAll(ctx, db, st.list())
}

func (st *readStatements) close() error { return closeAll(st.list()) }

// Status implements [store.Store].
func (s *Store) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	if err := ctx.Err(); err != nil {
		return store.Missing, err
	}
	// A context that can be cancelled costs a goroutine per query, which takes
	// longer than the query.
	ctx = context.WithoutCancel(ctx)
	run, err := s.number(ctx, runID)
	if err != nil {
		return store.Missing, s.explain("read", err)
	}
	var n int64
	var unjudged bool
	err = s.query.find.QueryRowContext(ctx, run, text(itemID), trial).Scan(&n, &unjudged)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Missing, nil
	case err != nil:
		return store.Missing, s.explain("read", err)
	case unjudged:
		return store.Unjudged, nil
	default:
		return store.Judged, nil
	}
}

// Reply implements [store.Store].
func (s *Store) Reply(ctx context.Context, key string) (deem.Reply, bool, error) {
	if err := ctx.Err(); err != nil {
		return deem.Reply{}, false, err
	}
	ctx = context.WithoutCancel(ctx)
	var body string
	var latency, cost int64
	var attempts int
	var unpriced bool
	err := s.query.reply.QueryRowContext(ctx, text(key)).Scan(&body, &latency, &attempts, &cost, &unpriced)
	if errors.Is(err, sql.ErrNoRows) {
		return deem.Reply{}, false, nil
	}
	var r deem.Reply
	if err == nil {
		r, err = decodeReply(body)
	}
	if err != nil {
		return deem.Reply{}, false, s.explain("read", err)
	}
	r.Key, r.Latency, r.Attempts, r.CostMicros, r.Unpriced = key, time.Duration(latency), attempts, cost, unpriced
	return r, true, nil
}

// loadCalls reads the calls of a record. It reads as many as the record had when
// it was read itself: a record that was replaced since has its new calls behind
// those.
func (s *Store) loadCalls(ctx context.Context, f *found) error {
	if f.calls == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	rows, err := s.query.calls.QueryContext(context.WithoutCancel(ctx), f.n, f.calls)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	f.rec.Calls = make([]deem.Call, 0, f.calls)
	for rows.Next() {
		c, err := scanCall(rows)
		if err != nil {
			return err
		}
		f.rec.Calls = append(f.rec.Calls, c)
	}
	return rows.Err()
}

func scanCall(rows *sql.Rows) (deem.Call, error) {
	var c deem.Call
	var body, key sql.NullString
	var started, latency, attempts, cost, unpriced, cached sql.NullInt64
	err := rows.Scan(&c.Model, &c.Request, &started, &c.Error, &c.Attempts,
		&body, &key, &latency, &attempts, &cost, &unpriced, &cached)
	if err != nil {
		return deem.Call{}, err
	}
	if started.Valid {
		c.Started = time.Unix(0, started.Int64).UTC()
	}
	if !body.Valid {
		return c, nil
	}
	r, err := decodeReply(body.String)
	if err != nil {
		return deem.Call{}, err
	}
	r.Key, r.Latency, r.Attempts = key.String, time.Duration(latency.Int64), int(attempts.Int64)
	r.CostMicros, r.Unpriced, r.Cached = cost.Int64, unpriced.Int64 != 0, cached.Int64 != 0
	c.Reply = &r
	return c, nil
}
