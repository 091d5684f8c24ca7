package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/body"
)

// readStatements are the queries that are made for every item of a run.
type readStatements struct {
	find, said, text, line *sql.Stmt

	replyKeys              keyStatements
	replyByKey, replyByNum *sql.Stmt
}

func (st *readStatements) list() []statement {
	reply := `SELECT body, latency, attempts, cost_micros, unpriced, ` + soundReply + ` FROM replies r `
	return append([]statement{
		{&st.find, `SELECT n, kind IS NOT NULL FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.replyByKey, reply + replyKeys.where()},
		{&st.replyByNum, reply + `WHERE n = ?`},
		{&st.said, `SELECT r.n, r.key, r.body, ` + soundReply + ` FROM json_each(?) p CROSS JOIN replies r ON r.n = p.value`},
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
	var unpriced, sound bool
	err = st.QueryRowContext(ctx, arg).Scan(&said, &latency, &attempts, &cost, &unpriced, &sound)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return deem.Reply{}, false, nil
	case err == nil && !sound:
		err = altered("the reply with the key %q", key)
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

// callsRows is for how many records the replies are read at once. A query costs as much
// as the replies of several records; but replies may be long, and are all in memory.
const callsRows = 64

// loadCalls makes the calls of records from their JSON, with the replies.
func (s *Store) loadCalls(ctx context.Context, page []found) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	all, numbers := make([][]body.Call, len(page)), []byte{'['}
	for i := range page {
		if page[i].calls == "" {
			continue
		}
		calls, err := body.DecodeCalls(page[i].calls)
		if err != nil {
			return fmt.Errorf("decode calls about item %q: %w", page[i].rec.Item.ID, err)
		}
		all[i] = calls
		for _, c := range calls {
			if c.Number > 0 {
				numbers = append(strconv.AppendInt(numbers, c.Number, 10), ',')
			}
		}
	}
	numbers[len(numbers)-1] = ']'
	said, err := s.said(ctx, string(numbers))
	for i := 0; i < len(page) && err == nil; i++ {
		page[i].rec.Calls, err = callsOf(all[i], said)
	}
	return err
}

// A saying is a reply of the cache: its key, and what it says.
type saying struct{ key, body string }

// said returns the replies with the given numbers, a list in JSON.
func (s *Store) said(ctx context.Context, numbers string) (map[int64]saying, error) {
	if numbers == "]" {
		return nil, nil //nolint:nilnil // No replies.
	}
	rows, err := s.query.said.QueryContext(context.WithoutCancel(ctx), numbers)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	said := make(map[int64]saying, callsRows)
	for rows.Next() {
		var n int64
		var one saying
		var sound bool
		if err := rows.Scan(&n, &one.key, &one.body, &sound); err != nil {
			return nil, err
		}
		if !sound {
			return nil, altered("reply %d", n)
		}
		said[n] = one
	}
	return said, rows.Err()
}

// callsOf puts calls together with what their replies say.
func callsOf(list []body.Call, said map[int64]saying) ([]deem.Call, error) {
	if len(list) == 0 {
		return nil, nil
	}
	calls := make([]deem.Call, len(list))
	for i := range list {
		c := &list[i]
		one, ok := said[c.Number]
		switch {
		case !ok && c.Number > 0:
			return nil, fmt.Errorf("reply %d is not there", c.Number)
		case !ok:
			one = saying{c.Key, string(c.Body)}
		}
		var reply *deem.Reply
		if one.body != "" {
			r, err := body.DecodeReply(one.body)
			if err != nil {
				return nil, err
			}
			reply = &r
		}
		calls[i] = c.Call(reply, one.key)
	}
	return calls, nil
}
