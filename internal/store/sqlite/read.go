package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/body"
)

// readStatements are the queries that are made for every item of a run.
type readStatements struct {
	find, calls, text, line *sql.Stmt

	replyKeys              keyStatements
	replyByKey, replyByNum *sql.Stmt
}

func (st *readStatements) list() []statement {
	const reply = `SELECT body, latency, attempts, cost_micros, unpriced FROM replies `
	return append([]statement{
		{&st.find, `SELECT n, kind IS NOT NULL FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.replyByKey, reply + replyKeys.where()},
		{&st.replyByNum, reply + `WHERE n = ?`},
		{&st.calls, `SELECT c.record, c.seq, c.model, c.request, c.started, c.error, c.tries,
			coalesce(c.reply_inline, r.body), coalesce(c.reply_key, r.key), c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached
			FROM json_each(?) p CROSS JOIN calls c ON c.record = p.value LEFT JOIN replies r ON r.n = c.reply`},
		{&st.text, `SELECT body FROM texts WHERE n = ?`},
		{&st.line, selectLine},
	}, st.replyKeys.reads(replyKeys)...)
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
	key = text(key)
	n, may, err := s.replies.fresh(ctx, &s.query.replyKeys, key)
	if err != nil || !may {
		return deem.Reply{}, false, s.explain("read", err)
	}
	ctx = context.WithoutCancel(ctx)
	st, arg := s.query.replyByKey, any(key)
	if n > 0 {
		st, arg = s.query.replyByNum, n
	}
	var said string
	var latency, cost int64
	var attempts int
	var unpriced bool
	err = st.QueryRowContext(ctx, arg).Scan(&said, &latency, &attempts, &cost, &unpriced)
	if errors.Is(err, sql.ErrNoRows) {
		return deem.Reply{}, false, nil
	}
	var r deem.Reply
	if err == nil {
		r, err = body.DecodeReply(said)
	}
	if err != nil {
		return deem.Reply{}, false, s.explain("read", err)
	}
	r.Key, r.Latency, r.Attempts, r.CostMicros, r.Unpriced = key, time.Duration(latency), attempts, cost, unpriced
	return r, true, nil
}

// callsRows is for how many records the calls are read at once. A query costs as much
// as the calls of several records; but replies may be long, and are all in memory.
const callsRows = 64

// loadCalls reads the calls of records. It reads as many of each as the record had
// when it was read itself: a record that was replaced since has its new calls behind
// those.
func (s *Store) loadCalls(ctx context.Context, page []found) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	numbers, places := []byte{'['}, make(map[int64]*found, len(page))
	for i := range page {
		f := &page[i]
		if f.calls == 0 {
			continue
		}
		if len(places) > 0 {
			numbers = append(numbers, ',')
		}
		numbers = strconv.AppendInt(numbers, f.n, 10)
		places[f.n] = f
		f.rec.Calls = make([]deem.Call, f.calls)
	}
	if len(places) == 0 {
		return nil
	}
	rows, err := s.query.calls.QueryContext(context.WithoutCancel(ctx), string(append(numbers, ']')))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	for rows.Next() {
		if err := scanCall(rows, places); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanCall reads a call into its place.
func scanCall(rows *sql.Rows, places map[int64]*found) error {
	var c deem.Call
	var record int64
	var seq int
	var said, key sql.NullString
	var started, latency, attempts, cost, unpriced, cached sql.NullInt64
	err := rows.Scan(&record, &seq, &c.Model, &c.Request, &started, &c.Error, &c.Attempts,
		&said, &key, &latency, &attempts, &cost, &unpriced, &cached)
	if err != nil {
		return err
	}
	f := places[record]
	if seq >= f.calls {
		return nil
	}
	c.Started = timeOf(started)
	if said.Valid {
		r, err := body.DecodeReply(said.String)
		if err != nil {
			return err
		}
		r.Key, r.Latency, r.Attempts = key.String, time.Duration(latency.Int64), int(attempts.Int64)
		r.CostMicros, r.Unpriced, r.Cached = cost.Int64, unpriced.Int64 != 0, cached.Int64 != 0
		c.Reply = &r
	}
	f.rec.Calls[seq] = c
	return nil
}
