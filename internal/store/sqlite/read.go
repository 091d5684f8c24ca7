package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"deem"
	"deem/internal/store"
)

// readStatements are the queries that are made for every item of a run.
type readStatements struct {
	find, text, line, reply, keys *sql.Stmt
}

func (st *readStatements) list() []statement {
	return []statement{
		{&st.find, `SELECT n, kind IS NOT NULL FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.reply, `SELECT body, latency, attempts, cost_micros, unpriced, ` + soundReply + ` FROM replies r WHERE key = ?`},
		{&st.keys, `SELECT n, key FROM replies WHERE n > ? ORDER BY n LIMIT ?`},
		{&st.text, `SELECT body FROM texts WHERE n = ?`},
		{&st.line, selectLine + ` WHERE l.run = ? AND l.key = ?`},
	}
}

// A scanner is a row of a query.
type scanner interface{ Scan(dest ...any) error }

// collect returns what scan reads from each row of a query.
func collect[T any](ctx context.Context, s *Store, scan func(row scanner) (T, error), query string, args ...any) (list []T, err error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, rows.Err()
}

// Status implements [store.Store].
func (s *Store) Status(ctx context.Context, runID, itemID string, trial int) (store.Status, error) {
	if err := ctx.Err(); err != nil {
		return store.Missing, err
	}
	// A context that can be cancelled costs a goroutine per query, which takes longer than
	// the query.
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
	key, ctx = text(key), context.WithoutCancel(ctx) // As in Status.
	if may, err := s.filter.mayHave(ctx, s, key); err != nil || !may {
		return deem.Reply{}, false, s.explain("read", err)
	}
	var c store.ReplyColumns
	var sound bool
	err := s.query.reply.QueryRowContext(ctx, key).Scan(&c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &sound)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return deem.Reply{}, false, nil
	case err == nil && !sound:
		err = altered("the reply with the key %q", key)
	}
	var r *deem.Reply
	if err == nil {
		r, err = c.Reply(key, false)
	}
	if err != nil {
		return deem.Reply{}, false, s.explain("read", err)
	}
	return *r, true, nil
}
