package sqlite

import (
	"context"
	"database/sql"

	"deem"
	"deem/internal/money"
	"deem/internal/store"
)

// writeStatements are the statements of an append.
type writeStatements struct {
	findText, addText, findItem, addItem, placeText *sql.Stmt
	findReply, addReply, takeLine                   *sql.Stmt
	findRecord, addRecord, setRecord, addCall       *sql.Stmt
	numbers, count, unspend                         *sql.Stmt
}

func (st *writeStatements) list() []statement {
	return []statement{
		{&st.findText, `SELECT n FROM texts WHERE hash = ?`},
		{&st.addText, `INSERT INTO texts (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`},
		{&st.findItem, `SELECT n FROM items WHERE hash = ?`},
		{&st.addItem, `INSERT INTO items (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`},
		{&st.placeText, `INSERT INTO item_texts (item, place, text) VALUES (?, ?, ?)`},
		{&st.findReply, `SELECT n, body FROM replies WHERE key = ?`},
		{&st.addReply, `INSERT INTO replies (n, key, body, latency, attempts, cost_micros, unpriced, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`},
		{&st.takeLine, `UPDATE batch_lines SET taken = 1 WHERE run = ? AND key = ?`},
		{&st.findRecord, `SELECT n, kind IS NOT NULL, calls FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.addRecord, `INSERT INTO records (n, run, item_id, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, parts, kind, detail, calls, sum)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, item_id, trial) DO NOTHING`},
		{&st.setRecord, `UPDATE records SET (item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, parts, kind, detail, calls, sum)
			= (?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
			WHERE n = ?1 AND run = ?2 AND item_id = ?3 AND trial = ?4`},
		{&st.addCall, `INSERT INTO calls (record, seq, model, request, started, error, tries, reply, reply_key, reply_inline,
			latency, attempts, cost_micros, unpriced, cached, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&st.numbers, `SELECT (SELECT coalesce(max(n), 0) FROM records), (SELECT coalesce(max(n), 0) FROM replies)`},
		{&st.count, `UPDATE runs SET records = records + ?, unjudged = unjudged + ?, cost_micros = cost_micros + ?,
			updated = ?, state = 'open' WHERE n = ?`},
		{&st.unspend, `UPDATE money SET spent = spent - ? WHERE run = ? AND holder = ?`},
	}
}

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, runID string, recs []deem.Record) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return s.explain("append to", err)
	}
	// Check and encode all records before the transaction begins, so that no other writer
	// waits for it.
	rows, items := make([]store.StoredRecord, len(recs)), &store.ItemEncoder{}
	for i, rec := range recs {
		if rows[i], err = items.Record(rec); err != nil {
			return s.explain("append to", err)
		}
	}
	err = s.transact(ctx, "append to", func(ctx context.Context, w *writer) error {
		a, err := newAppender(ctx, w, run)
		for i := 0; i < len(rows) && err == nil; i++ {
			err = a.add(ctx, &rows[i])
		}
		if err == nil {
			_, err = w.stmt.count.ExecContext(ctx, a.records, a.unjudged, a.cost, s.opts.Now().UnixNano(), run)
		}
		if holder, ok := s.holders.Load(runID); ok && err == nil {
			_, err = w.stmt.unspend.ExecContext(ctx, a.reserved, run, holder)
		}
		return err
	})
	for _, rec := range recs {
		for _, c := range rec.Calls {
			if c.Reply != nil {
				s.filter.add(text(c.Reply.Key))
			}
		}
	}
	return err
}

// An appender writes rows in one transaction. It numbers records and replies itself,
// because their seals cover the numbers: no other writer can add rows during the
// transaction.
type appender struct {
	st            *writeStatements
	run           int64
	record, reply int64 // the highest numbers in use

	// What the rows add to the counts of the run.
	records, unjudged int
	cost, reserved    int64 // what calls cost, and the part of it that came from a budget
}

func newAppender(ctx context.Context, w *writer, run int64) (appender, error) {
	a := appender{st: &w.stmt, run: run}
	return a, w.stmt.numbers.QueryRowContext(ctx).Scan(&a.record, &a.reply)
}

// add writes a record with its item and its calls. The record replaces an earlier one of
// the same item and trial.
func (a *appender) add(ctx context.Context, r *store.StoredRecord) error {
	item, added, err := addOnce(ctx, a.st.findItem, a.st.addItem, r.Stored.Hash[:], r.Stored.JSON)
	if err != nil {
		return err
	}
	if added {
		for _, t := range r.Stored.Long {
			text, _, err := addOnce(ctx, a.st.findText, a.st.addText, t.Hash[:], t.Body)
			if err == nil {
				_, err = a.st.placeText.ExecContext(ctx, item, t.Place, text)
			}
			if err != nil {
				return err
			}
		}
	}
	n, earlier := a.record+1, 0
	added, err = wroteRow(a.st.addRecord.ExecContext(ctx, columns(r, n, a.run, item, earlier)...))
	if err != nil {
		return err
	}
	if added {
		a.record++
		a.records++
	} else {
		var unjudged bool
		err := a.st.findRecord.QueryRowContext(ctx, a.run, text(r.Item.ID), r.Trial).Scan(&n, &unjudged, &earlier)
		if err == nil {
			_, err = a.st.setRecord.ExecContext(ctx, columns(r, n, a.run, item, earlier)...)
		}
		if err != nil {
			return err
		}
		if unjudged {
			a.unjudged--
		}
	}
	if r.Failure != nil {
		a.unjudged++
	}
	for i := range r.Calls {
		if err := a.addCall(ctx, n, earlier+i, &r.Calls[i], r.Replies[i]); err != nil {
			return err
		}
	}
	return nil
}

// addOnce returns the number of the row with a hash, adding it if there is none. Most are
// new, so it tries to add first.
func addOnce(ctx context.Context, find, add *sql.Stmt, hash []byte, body string) (n int64, added bool, err error) {
	res, err := add.ExecContext(ctx, hash, body)
	if added, err = wroteRow(res, err); err != nil {
		return 0, false, err
	}
	if added {
		n, err = res.LastInsertId()
	} else {
		err = find.QueryRowContext(ctx, hash).Scan(&n)
	}
	return n, added, err
}

// wroteRow reports whether a statement added or changed a row.
func wroteRow(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// columns returns the columns of a record in the order of the statements, and its seal.
func columns(r *store.StoredRecord, n, run, item int64, earlier int) []any {
	c := append(make([]any, 0, 20), n, run, text(r.Item.ID), int64(r.Trial),
		item, int64(r.Position), text(r.Item.Category), text(r.Item.Cluster), r.Item.Weight, text(r.Judge))
	if v := r.Verdict; v != nil {
		c = append(c, text(v.Label), v.Score, store.Null(v.Pass), store.Null(v.Confidence), nullText(v.Reason), store.Null(r.Parts), nil, nil)
	} else {
		c = append(c, nil, nil, nil, nil, nil, store.Null(r.Parts), text(string(r.Failure.Kind)), nullText(r.Failure.Detail))
	}
	c = append(c, int64(earlier+len(r.Calls)))
	hash := r.Stored.Hash[:store.SealBytes]
	return append(c, append(store.Seal(append(c, hash)), hash...))
}

// addCall writes a call of a record, and counts its cost.
func (a *appender) addCall(ctx context.Context, record int64, seq int, c *deem.Call, said string) error {
	columns := append(make([]any, 0, 17), record, int64(seq), text(c.Model), text(c.Request), store.Null(store.Nanos(c.Started)), text(c.Error), int64(c.Attempts))
	var key, body any // of a reply in the cache
	if r := c.Reply; r == nil {
		columns = append(columns, nil, nil, nil, nil, nil, nil, nil, nil)
	} else {
		n, err := a.addReply(ctx, r, said)
		if err != nil {
			return err
		}
		if n != 0 {
			columns = append(columns, n, nil, nil)
			key, body = text(r.Key), said
		} else {
			columns = append(columns, nil, text(r.Key), said)
		}
		columns = append(columns, int64(r.Latency), int64(r.Attempts), r.CostMicros, r.Unpriced, r.Cached)
		if !r.Cached {
			a.cost = money.Add(a.cost, r.CostMicros)
			if r.Batch == "" {
				a.reserved = money.Add(a.reserved, r.CostMicros)
			}
		}
	}
	seal := store.Seal(append(columns, key, body))
	_, err := a.st.addCall.ExecContext(ctx, append(columns, seal)...)
	return err
}

// addReply returns the number of a reply in the cache, adding it if its key is new, or 0 if
// the call has to keep the reply: because it has no key, or because its key belongs to
// another reply, of a request that was repeated in spite of the cache. The cache keeps the
// first, and the call keeps the reply it actually got.
func (a *appender) addReply(ctx context.Context, r *deem.Reply, said string) (n int64, err error) {
	if r.Key == "" {
		return 0, nil
	}
	key := text(r.Key)
	if r.Batch != "" && !r.Cached {
		// The reply waited in its batch; now the record has it.
		if _, err := a.st.takeLine.ExecContext(ctx, a.run, key); err != nil {
			return 0, err
		}
	}
	columns := append(make([]any, 0, 8), a.reply+1, key, said, int64(r.Latency), int64(r.Attempts), r.CostMicros, r.Unpriced)
	added, err := wroteRow(a.st.addReply.ExecContext(ctx, append(columns, store.Seal(columns))...))
	if err != nil {
		return 0, err
	}
	if added {
		a.reply++
		return a.reply, nil
	}
	var kept string
	if err := a.st.findReply.QueryRowContext(ctx, key).Scan(&n, &kept); err != nil || kept != said {
		return 0, err
	}
	return n, nil
}
