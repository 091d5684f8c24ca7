package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"

	"deem"
	"deem/internal/store"
)

// writeStatements are what an append is made of. What every record needs is added
// in bulk.
type writeStatements struct {
	addText, findText     *sql.Stmt
	findItem, findReply   *sql.Stmt
	findRecord, setRecord *sql.Stmt
	numbers, count        *sql.Stmt
	takeLine              *sql.Stmt

	items, records, replies, calls bulk
}

func (st *writeStatements) list() []statement {
	return slices.Concat([]statement{
		{&st.addText, `INSERT INTO texts (hash, body) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING`},
		{&st.findText, `SELECT n FROM texts WHERE hash = ?`},
		{&st.findItem, `SELECT n FROM items WHERE hash = ?`},
		{&st.findReply, `SELECT n, body FROM replies WHERE key = ?`},
		{&st.findRecord, `SELECT n, kind IS NOT NULL, calls FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.setRecord, `UPDATE records SET item = ?, position = ?, category = ?, cluster = ?, weight = ?, judge = ?,
			label = ?, score = ?, pass = ?, confidence = ?, reason = ?, aspects = ?, kind = ?, detail = ?, calls = ?
			WHERE n = ?`},
		{&st.numbers, `SELECT coalesce((SELECT max(n) FROM items), 0), coalesce((SELECT max(n) FROM records), 0),
			coalesce((SELECT max(n) FROM replies), 0)`},
		{&st.count, `UPDATE runs SET records = records + ?, unjudged = unjudged + ?, cost_micros = cost_micros + ?,
			updated = ?, state = 'open' WHERE n = ?`},
		{&st.takeLine, `UPDATE batch_lines SET taken = 1 WHERE run = ? AND key = ?`},
	},
		st.items.list("items (n, hash, body, texts)", 4, "ON CONFLICT (hash) DO NOTHING"),
		st.records.list(`records (n, run, item_id, trial, item, position, category, cluster, weight, judge,
			label, score, pass, confidence, reason, aspects, kind, detail, calls)`, 19,
			"ON CONFLICT (run, item_id, trial) DO NOTHING"),
		st.replies.list("replies (n, key, body, latency, attempts, cost_micros, unpriced)", 7, "ON CONFLICT (key) DO NOTHING"),
		st.calls.list(`calls (record, seq, model, request, started, error, tries,
			reply, reply_key, reply_inline, latency, attempts, cost_micros, unpriced, cached)`, 15, ""),
	)
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

	// Where the row went.
	number int64 // of its item, then of its record
	calls  int   // of an earlier record of the same item and trial, which go before its own
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
	a := appender{run: run, texts: map[[sha256.Size]byte]int64{}}
	err = s.transact(ctx, func(ctx context.Context, w *writer) error {
		a.st, a.known = &w.stmt, &w.texts
		if err := a.add(ctx, rows); err != nil {
			return err
		}
		_, err := w.stmt.count.ExecContext(ctx, a.records, a.unjudged, a.cost, s.opts.Now().UnixNano(), run)
		return err
	})
	if err == nil {
		s.write.remember(a.texts)
		s.filter.appended(a.kept, a.before, a.reply)
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
//
// It goes through the rows table by table, so that many rows go in with one
// statement. For that it gives out the numbers itself: nobody else can while the
// transaction lasts. A statement that finds all of its rows new, as nearly all do,
// needs no look at what was there before.
type appender struct {
	st  *writeStatements
	run int64

	// The last numbers that are taken, and the last of a reply before the append.
	item, record, reply, before int64

	kept map[string]keptReply // what the cache has under the keys of this append

	texts map[[sha256.Size]byte]int64 // the texts of this append that have a number
	known *recent[[sha256.Size]byte, int64]

	// What the rows add to the counts of the run.
	records, unjudged int
	cost              int64
}

func (a *appender) add(ctx context.Context, rows []row) error {
	if err := a.st.numbers.QueryRowContext(ctx).Scan(&a.item, &a.record, &a.reply); err != nil {
		return err
	}
	a.before = a.reply
	if err := a.addItems(ctx, rows); err != nil {
		return err
	}
	if err := a.addRecords(ctx, rows); err != nil {
		return err
	}
	if err := a.addReplies(ctx, rows); err != nil {
		return err
	}
	if err := a.takeLines(ctx, rows); err != nil {
		return err
	}
	return a.addCalls(ctx, rows)
}

// addItems gives each row the number of its item, which it adds if it is new.
func (a *appender) addItems(ctx context.Context, rows []row) error {
	numbers := make(map[[sha256.Size]byte]int64, len(rows))
	var fresh []*row
	for i := range rows {
		r := &rows[i]
		if _, ok := numbers[r.itemHash]; !ok {
			numbers[r.itemHash] = 0
			fresh = append(fresh, r)
		}
	}
	err := each(&a.st.items, fresh, func(part []*row, args []any) error {
		first := a.item
		for _, r := range part {
			places, err := a.places(ctx, r.long)
			if err != nil {
				return err
			}
			a.item++
			numbers[r.itemHash] = a.item
			args = append(args, a.item, r.itemHash[:], string(r.item), places)
		}
		all, err := a.st.items.insert(ctx, len(part), args)
		if err != nil || all {
			return err
		}
		return a.findItems(ctx, part, numbers, first)
	})
	for i := range rows {
		rows[i].number = numbers[rows[i].itemHash]
	}
	return err
}

// findItems looks up the numbers of items of which some were there already. Numbers
// that were not needed are given out again.
func (a *appender) findItems(ctx context.Context, part []*row, numbers map[[sha256.Size]byte]int64, last int64) error {
	for _, r := range part {
		var n int64
		if err := a.st.findItem.QueryRowContext(ctx, r.itemHash[:]).Scan(&n); err != nil {
			return err
		}
		numbers[r.itemHash] = n
		last = max(last, n)
	}
	a.item = last
	return nil
}

// addRecords writes the records themselves. It leaves the number of each in its row,
// and how many calls of an earlier record of the same item and trial go before its
// own.
func (a *appender) addRecords(ctx context.Context, rows []row) error {
	return each(&a.st.records, rows, func(part []row, args []any) error {
		first := a.record
		for i := range part {
			r := &part[i]
			a.record++
			args = append(args, a.record, a.run, text(r.rec.Item.ID), r.rec.Trial)
			args = r.columns(args, r.number, 0)
			if r.rec.Failure != nil {
				a.unjudged++
			}
		}
		all, err := a.st.records.insert(ctx, len(part), args)
		if err != nil {
			return err
		}
		if !all {
			return a.replaceRecords(ctx, part, first)
		}
		a.records += len(part)
		for i := range part {
			part[i].number = first + int64(i) + 1
		}
		return nil
	})
}

// replaceRecords looks which of the records were added, behind the number given, and
// puts the others in the place of those that were there.
func (a *appender) replaceRecords(ctx context.Context, part []row, number int64) error {
	last := number
	for i := range part {
		r := &part[i]
		number++
		var n int64
		var unjudged bool
		if err := a.st.findRecord.QueryRowContext(ctx, a.run, text(r.rec.Item.ID), r.rec.Trial).Scan(&n, &unjudged, &r.calls); err != nil {
			return err
		}
		item := r.number
		r.number = n
		if n == number {
			a.records++
			last, r.calls = n, 0
			continue
		}
		if unjudged {
			a.unjudged--
		}
		if _, err := a.st.setRecord.ExecContext(ctx, append(r.columns(nil, item, r.calls), n)...); err != nil {
			return err
		}
	}
	a.record = last
	return nil
}

// columns appends the columns of a record that are no part of its key, in the order
// in which the statements have them.
func (r *row) columns(cols []any, item int64, calls int) []any {
	it := r.rec.Item
	cols = append(cols, item, r.rec.Position, text(it.Category), text(it.Cluster), it.Weight, text(r.rec.Judge))
	if v := r.rec.Verdict; v != nil {
		cols = append(cols, text(v.Label), v.Score, v.Pass, v.Confidence, nullText(v.Reason), r.aspects, nil, nil)
	} else {
		f := r.rec.Failure
		cols = append(cols, nil, nil, nil, nil, nil, nil, text(string(f.Kind)), nullText(f.Detail))
	}
	return append(cols, calls+len(r.rec.Calls))
}

// A keptReply is one that is in the cache.
type keptReply struct {
	n    int64
	body string
}

// addReplies adds the replies with a key to the cache, and notes what it has under each
// key. The first reply of a key stays.
func (a *appender) addReplies(ctx context.Context, rows []row) error {
	a.kept = make(map[string]keptReply, len(rows))
	var fresh []freshReply
	for i := range rows {
		for k, c := range rows[i].rec.Calls {
			if c.Reply == nil || c.Reply.Key == "" {
				continue
			}
			key := text(c.Reply.Key)
			if _, ok := a.kept[key]; !ok {
				a.kept[key] = keptReply{}
				fresh = append(fresh, freshReply{key, c.Reply, rows[i].replies[k]})
			}
		}
	}
	return each(&a.st.replies, fresh, func(part []freshReply, args []any) error {
		first := a.reply
		for _, f := range part {
			a.reply++
			a.kept[f.key] = keptReply{a.reply, f.body}
			r := f.reply
			args = append(args, a.reply, f.key, f.body, int64(r.Latency), r.Attempts, r.CostMicros, r.Unpriced)
		}
		all, err := a.st.replies.insert(ctx, len(part), args)
		if err != nil || all {
			return err
		}
		return a.findReplies(ctx, part, first)
	})
}

// A freshReply is one that may be new to the cache.
type freshReply struct {
	key   string
	reply *deem.Reply
	body  string
}

// findReplies looks up replies of which some were there already.
func (a *appender) findReplies(ctx context.Context, part []freshReply, last int64) error {
	for _, f := range part {
		var k keptReply
		if err := a.st.findReply.QueryRowContext(ctx, f.key).Scan(&k.n, &k.body); err != nil {
			return err
		}
		a.kept[f.key] = k
		last = max(last, k.n)
	}
	a.reply = last
	return nil
}

// A placedCall is a call with its place in a record.
type placedCall struct {
	record int64
	seq    int
	call   *deem.Call
	body   string // of the reply
}

func (a *appender) addCalls(ctx context.Context, rows []row) error {
	calls := make([]placedCall, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		for k := range r.rec.Calls {
			calls = append(calls, placedCall{r.number, r.calls + k, &r.rec.Calls[k], r.replies[k]})
		}
	}
	return each(&a.st.calls, calls, func(part []placedCall, args []any) error {
		for _, p := range part {
			c := p.call
			args = append(args, p.record, p.seq, text(c.Model), text(c.Request), nanos(c.Started), text(c.Error), c.Attempts)
			args = a.replyColumns(args, c.Reply, p.body)
		}
		_, err := a.st.calls.insert(ctx, len(part), args)
		return err
	})
}

// replyColumns appends what a call says of its reply: the number of the reply in the
// cache, or its key and body if it is not there. Besides a reply without a key, that
// is a reply whose key belongs to another reply: a request that was made again in
// spite of the cache. The cache keeps the first, and the call keeps what it was
// really told.
func (a *appender) replyColumns(args []any, r *deem.Reply, body string) []any {
	if r == nil {
		return append(args, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	if !r.Cached {
		a.cost += r.CostMicros
	}
	if k := a.kept[text(r.Key)]; r.Key != "" && k.body == body {
		args = append(args, k.n, nil, nil)
	} else {
		args = append(args, nil, nullText(r.Key), body)
	}
	return append(args, int64(r.Latency), r.Attempts, r.CostMicros, r.Unpriced, r.Cached)
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
