package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"

	"deem"
	"deem/internal/store"
)

// writeStatements are what an append is made of.
type writeStatements struct {
	addText, findText                *sql.Stmt
	addItem, findItem                *sql.Stmt
	addRecord, findRecord, setRecord *sql.Stmt
	addReply, findReply              *sql.Stmt
	addCall, count                   *sql.Stmt
}

func (st *writeStatements) list() []statement {
	return []statement{
		{&st.addText, `INSERT INTO texts (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`},
		{&st.findText, `SELECT n FROM texts WHERE hash = ?`},
		{&st.addItem, `INSERT INTO items (hash, body, texts) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING`},
		{&st.findItem, `SELECT n FROM items WHERE hash = ?`},
		{&st.addRecord, `INSERT INTO records (run, item_id, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, aspects, kind, detail, calls)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, item_id, trial) DO NOTHING`},
		{&st.findRecord, `SELECT n, kind IS NOT NULL, calls FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.setRecord, `UPDATE records SET item = ?, position = ?, category = ?, cluster = ?, weight = ?, judge = ?,
			label = ?, score = ?, pass = ?, confidence = ?, reason = ?, aspects = ?, kind = ?, detail = ?, calls = ?
			WHERE n = ?`},
		{&st.addReply, `INSERT INTO replies (key, body, latency, attempts, cost_micros, unpriced)
			VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`},
		{&st.findReply, `SELECT n, body FROM replies WHERE key = ?`},
		{&st.addCall, `INSERT INTO calls (record, seq, model, request, started, error, tries,
			reply, reply_key, reply_inline, latency, attempts, cost_micros, unpriced, cached)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&st.count, `UPDATE runs SET records = records + ?, unjudged = unjudged + ?, cost_micros = cost_micros + ?,
			updated = ?, state = 'open' WHERE n = ?`},
	}
}

func (st *writeStatements) prepare(ctx context.Context, conn *sql.Conn) error {
	return prepareAll(ctx, conn, st.list())
}

func (st *writeStatements) close() error { return closeAll(st.list()) }

// A row is a record with its texts encoded, ready to be written.
type row struct {
	rec      deem.Record
	item     []byte // canonical JSON, without the long texts
	long     []taken
	itemHash [sha256.Size]byte
	aspects  any
	replies  []string // one for each call, "" where there is no reply
}

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, runID string, recs []deem.Record) error {
	if s.write == nil {
		return s.explain("append to", errReadOnly)
	}
	run, err := s.number(ctx, runID)
	if err != nil {
		return s.explain("append to", err)
	}
	// Everything that can be wrong with a record is found before the
	// transaction begins, and nobody waits for the encoding.
	rows, hashes := make([]row, len(recs)), &sums{}
	for i, rec := range recs {
		if rows[i], err = newRow(rec, hashes); err != nil {
			return s.explain("append to", err)
		}
	}
	texts := map[[sha256.Size]byte]int64{}
	err = s.transact(ctx, func(ctx context.Context, w *writer) error {
		a := appender{st: &w.stmt, run: run, items: map[[sha256.Size]byte]int64{}, texts: texts, known: &w.texts}
		for i := range rows {
			if err := a.add(ctx, &rows[i]); err != nil {
				return err
			}
		}
		_, err := w.stmt.count.ExecContext(ctx, a.records, a.unjudged, a.cost, s.opts.Now().UnixNano(), run)
		return err
	})
	if err == nil {
		s.write.remember(texts)
	}
	return s.explain("append to", err)
}

func newRow(rec deem.Record, hashes *sums) (row, error) {
	if err := store.CheckRecord(rec); err != nil {
		return row{}, err
	}
	r := row{rec: rec, replies: make([]string, len(rec.Calls))}
	var err error
	if r.item, r.long, r.itemHash, err = encodeItem(rec.Item, hashes); err != nil {
		return row{}, fmt.Errorf("encode item %q: %w", rec.Item.ID, err)
	}
	if rec.Verdict != nil {
		if r.aspects, err = encodeAspects(rec.Verdict.Aspects); err != nil {
			return row{}, fmt.Errorf("encode verdict on item %q: %w", rec.Item.ID, err)
		}
	}
	for i, c := range rec.Calls {
		if c.Reply == nil {
			continue
		}
		if r.replies[i], err = encodeReply(*c.Reply); err != nil {
			return row{}, fmt.Errorf("encode reply about item %q: %w", rec.Item.ID, err)
		}
	}
	return r, nil
}

// An appender writes rows in one transaction.
type appender struct {
	st  *writeStatements
	run int64

	items map[[sha256.Size]byte]int64 // the items of this append that have a number
	texts map[[sha256.Size]byte]int64 // the same for texts
	known *recent[[sha256.Size]byte, int64]

	// What the rows add to the counts of the run.
	records, unjudged int
	cost              int64
}

func (a *appender) add(ctx context.Context, r *row) error {
	item, err := a.item(ctx, r)
	if err != nil {
		return err
	}
	n, calls, err := a.record(ctx, r, item)
	if err != nil {
		return err
	}
	for i := range r.rec.Calls {
		if err := a.call(ctx, n, calls+i, &r.rec.Calls[i], r.replies[i]); err != nil {
			return err
		}
	}
	return nil
}

// item returns the number of the row's item, which it adds if it is new.
func (a *appender) item(ctx context.Context, r *row) (int64, error) {
	if n, ok := a.items[r.itemHash]; ok {
		return n, nil
	}
	places, err := a.places(ctx, r.long)
	if err != nil {
		return 0, err
	}
	n, added, err := insert(ctx, a.st.addItem, r.itemHash[:], string(r.item), places)
	if err != nil {
		return 0, err
	}
	if !added {
		if err := a.st.findItem.QueryRowContext(ctx, r.itemHash[:]).Scan(&n); err != nil {
			return 0, err
		}
	}
	a.items[r.itemHash] = n
	return n, nil
}

// record writes the record itself. It returns its number, and how many calls of an
// earlier record of the same item and trial go before its own.
func (a *appender) record(ctx context.Context, r *row, item int64) (n int64, calls int, err error) {
	id, trial := text(r.rec.Item.ID), r.rec.Trial
	n, added, err := insert(ctx, a.st.addRecord,
		append([]any{a.run, id, trial}, r.columns(item, 0)...)...)
	if err != nil {
		return 0, 0, err
	}
	if added {
		a.records++
	} else {
		var unjudged bool
		if err := a.st.findRecord.QueryRowContext(ctx, a.run, id, trial).Scan(&n, &unjudged, &calls); err != nil {
			return 0, 0, err
		}
		if unjudged {
			a.unjudged--
		}
		if _, err := a.st.setRecord.ExecContext(ctx, append(r.columns(item, calls), n)...); err != nil {
			return 0, 0, err
		}
	}
	if r.rec.Failure != nil {
		a.unjudged++
	}
	return n, calls, nil
}

// columns returns the columns of a record that are no part of its key, in the
// order in which the statements have them.
func (r *row) columns(item int64, calls int) []any {
	it := r.rec.Item
	cols := make([]any, 0, 19) // With room for what the callers add.
	cols = append(cols, item, r.rec.Position, text(it.Category), text(it.Cluster), it.Weight, text(r.rec.Judge))
	if v := r.rec.Verdict; v != nil {
		cols = append(cols, text(v.Label), v.Score, v.Pass, v.Confidence, nullText(v.Reason), r.aspects, nil, nil)
	} else {
		f := r.rec.Failure
		cols = append(cols, nil, nil, nil, nil, nil, nil, text(string(f.Kind)), nullText(f.Detail))
	}
	return append(cols, calls+len(r.rec.Calls))
}

func (a *appender) call(ctx context.Context, record int64, seq int, c *deem.Call, body string) error {
	args := make([]any, 0, 15)
	args = append(args, record, seq, text(c.Model), text(c.Request), nanos(c.Started), text(c.Error), c.Attempts)
	if c.Reply == nil {
		args = append(args, nil, nil, nil, nil, nil, nil, nil, nil)
	} else {
		n, inline, err := a.reply(ctx, c.Reply, body)
		if err != nil {
			return err
		}
		r := c.Reply
		var key any // That of a reply in the cache is there.
		if n == nil {
			key = nullText(r.Key)
		}
		args = append(args, n, key, inline, int64(r.Latency), r.Attempts, r.CostMicros, r.Unpriced, r.Cached)
		if !r.Cached {
			a.cost += r.CostMicros
		}
	}
	_, err := a.st.addCall.ExecContext(ctx, args...)
	return err
}

// reply returns the number of the reply in the cache, or its body if it is not
// there. Besides a reply without a key, that is a reply whose key belongs to
// another reply: a request that was made again in spite of the cache. The cache
// keeps the first, and the call keeps what it was really told.
func (a *appender) reply(ctx context.Context, r *deem.Reply, body string) (number, inline any, err error) {
	if r.Key == "" {
		return nil, body, nil
	}
	key := text(r.Key)
	n, added, err := insert(ctx, a.st.addReply, key, body, int64(r.Latency), r.Attempts, r.CostMicros, r.Unpriced)
	if err != nil || added {
		return n, nil, err
	}
	var kept string
	if err := a.st.findReply.QueryRowContext(ctx, key).Scan(&n, &kept); err != nil {
		return nil, nil, err
	}
	if kept != body {
		return nil, body, nil
	}
	return n, nil, nil
}

// insert runs a statement that adds one row or, if there is one already, none.
func insert(ctx context.Context, st *sql.Stmt, args ...any) (n int64, added bool, err error) {
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, false, err
	}
	count, err := res.RowsAffected()
	if err != nil || count == 0 {
		return 0, false, err
	}
	n, err = res.LastInsertId()
	return n, true, err
}
