package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

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
		r, err = c.Reply(key)
	}
	if err != nil {
		return deem.Reply{}, false, s.explain("read", err)
	}
	return *r, true, nil
}

// callsRows is the number of records whose replies are read at once. A query costs as much
// as the replies of several records; but replies may be long, and are all in memory.
const callsRows = 64

// loadCalls reads the calls of records. It reads as many of each as the record had when it
// was read: a record that was replaced since has its new calls after those.
func (s *Store) loadCalls(ctx context.Context, page []found) error {
	places := make(map[int64]*found, len(page))
	for i := range page {
		places[page[i].n] = &page[i]
	}
	numbers, err := store.EncodeJSON(slices.Collect(maps.Keys(places)))
	if err != nil {
		return err
	}
	rows, err := s.read.QueryContext(ctx, selectCalls, numbers)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	for rows.Next() {
		var c deem.Call
		var record int64
		var reply store.ReplyColumns
		var key sql.NullString
		var started *int64
		var cached sql.NullBool
		var sound bool
		err := rows.Scan(&record, &c.Model, &c.Request, &started, &c.Error, &c.Attempts,
			&reply.Body, &key, &reply.Latency, &reply.Attempts, &reply.Cost, &reply.Unpriced, &cached, &sound)
		if err != nil {
			return err
		}
		f, ok := places[record]
		if !ok {
			return altered("the list of calls") // An index led to another record.
		}
		if !sound {
			return altered("a call about item %q", f.rec.Item.ID)
		}
		if len(f.rec.Calls) == f.calls {
			continue
		}
		c.Started = store.TimeOf(started)
		if c.Reply, err = reply.Reply(key.String); err != nil {
			return err
		}
		if c.Reply != nil {
			c.Reply.Cached = cached.Bool
		}
		f.rec.Calls = append(f.rec.Calls, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for i := range page {
		if f := &page[i]; len(f.rec.Calls) != f.calls {
			return altered("the list of calls about item %q", f.rec.Item.ID)
		}
	}
	return nil
}

// selectCalls is the query of loadCalls.
var selectCalls = `SELECT c.record, c.model, c.request, c.started, c.error, c.tries,
	coalesce(c.reply_inline, r.body), coalesce(c.reply_key, r.key), c.latency, c.attempts, c.cost_micros, c.unpriced, c.cached,
	` + soundCall + ` AND (c.reply IS NULL OR ` + soundReply + `)
	FROM json_each(?) p CROSS JOIN calls c ON c.record = p.value LEFT JOIN replies r ON r.n = c.reply ORDER BY c.record, c.seq`
