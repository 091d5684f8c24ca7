package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/body"
)

// writeStatements are what an append is made of. What every record needs is added
// in bulk.
type writeStatements struct {
	findRecord, setRecord, replyBody *sql.Stmt
	numbers, count                   *sql.Stmt
	takeLine                         *sql.Stmt

	texts, items, records, replies bulk

	textKeys, itemKeys, replyKeys keyStatements
}

func (st *writeStatements) list() []statement {
	return slices.Concat([]statement{
		{&st.replyBody, `SELECT body FROM replies WHERE n = ?`},
		{&st.findRecord, `SELECT n, kind IS NOT NULL, calls FROM records WHERE run = ? AND item_id = ? AND trial = ?`},
		{&st.setRecord, `UPDATE records SET item = ?, position = ?, category = ?, cluster = ?, weight = ?, judge = ?,
			label = ?, score = ?, pass = ?, confidence = ?, reason = ?, aspects = ?, kind = ?, detail = ?, calls = ?, sum = ?
			WHERE n = ?`},
		{&st.numbers, `SELECT coalesce((SELECT max(n) FROM records), 0),
			coalesce((SELECT max(n) FROM texts), 0), texts, coalesce((SELECT max(n) FROM items), 0), items,
			coalesce((SELECT max(n) FROM replies), 0), replies FROM indexed`},
		{&st.count, `UPDATE runs SET records = records + ?, unjudged = unjudged + ?, cost_micros = cost_micros + ?,
			updated = ?, state = 'open' WHERE n = ?`},
		{&st.takeLine, `UPDATE batch_lines SET taken = 1 WHERE run = ? AND key = ?`},
	},
		st.textKeys.reads(textKeys), st.textKeys.writes(textKeys),
		st.itemKeys.reads(itemKeys), st.itemKeys.writes(itemKeys),
		st.replyKeys.reads(replyKeys), st.replyKeys.writes(replyKeys),
	)
}

// bulks returns the statements that add many rows.
func (st *writeStatements) bulks() []*bulk {
	return []*bulk{
		&st.texts, &st.items, &st.records, &st.replies,
		&st.textKeys.add, &st.itemKeys.add, &st.replyKeys.add,
	}
}

func (st *writeStatements) prepare(ctx context.Context, conn *sql.Conn) error {
	st.texts = bulk{into: "texts (n, hash, body)", columns: 3}
	st.items = bulk{into: "items (n, hash, body, texts)", columns: 4}
	st.records = bulk{
		into: `records (n, run, item_id, trial, item, position, category, cluster, weight, judge,
		label, score, pass, confidence, reason, aspects, kind, detail, calls, sum)`, columns: 20,
		conflict: "ON CONFLICT (run, item_id, trial) DO NOTHING",
	}
	st.replies = bulk{into: "replies (n, key, body, latency, attempts, cost_micros, unpriced, sum)", columns: 8}
	st.textKeys.add, st.itemKeys.add, st.replyKeys.add = textKeys.bulk(), itemKeys.bulk(), replyKeys.bulk()
	for _, b := range st.bulks() {
		b.conn = conn
	}
	return prepareAll(ctx, conn, st.list())
}

func (st *writeStatements) close() error {
	errs := []error{closeAll(st.list())}
	for _, b := range st.bulks() {
		errs = append(errs, b.close())
	}
	return errors.Join(errs...)
}

// A row is a record with its texts encoded, ready to be written.
type row struct {
	rec     deem.Record
	item    body.Item
	aspects any
	replies []string // one for each call, "" where there is no reply

	number int64  // of its item
	calls  string // JSON
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
	rows, items := make([]row, len(recs)), &body.Encoder{}
	for i, rec := range recs {
		if rows[i], err = newRow(rec, items); err != nil {
			return s.explain("append to", err)
		}
	}
	a := appender{run: run, texts: newKeyed(&s.texts), items: newKeyed(&s.items), replies: newKeyed(&s.replies)}
	err = s.transact(ctx, func(ctx context.Context, w *writer) error {
		a.st = &w.stmt
		a.texts.st, a.items.st, a.replies.st = &a.st.textKeys, &a.st.itemKeys, &a.st.replyKeys
		if err := a.add(ctx, rows); err != nil {
			return err
		}
		_, err := w.stmt.count.ExecContext(ctx, a.records, a.unjudged, a.cost, s.opts.Now().UnixNano(), run)
		return err
	})
	if err == nil {
		a.texts.commit()
		a.items.commit()
		a.replies.commit()
	}
	return s.explain("append to", err)
}

func newRow(rec deem.Record, items *body.Encoder) (row, error) {
	if err := store.CheckRecord(rec); err != nil {
		return row{}, err
	}
	r := row{rec: rec, replies: make([]string, len(rec.Calls))}
	var err error
	if r.item, err = items.Item(rec.Item); err != nil {
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
		if r.replies[i], err = body.EncodeReply(*c.Reply); err != nil {
			return row{}, fmt.Errorf("encode reply about item %q: %w", rec.Item.ID, err)
		}
	}
	return r, nil
}

// An appender writes rows in one transaction.
//
// It goes through the rows table by table, so that many rows go in with one
// statement. For that it gives out the numbers itself: nobody else can while the
// transaction lasts.
type appender struct {
	st  *writeStatements
	run int64

	record                int64 // the last number that is taken
	texts, items, replies keyed
	kept                  map[string]keptReply // what the cache has under the keys of this append

	// What the rows add to the counts of the run.
	records, unjudged int
	cost              int64
}

// A keyed is a table with keys, and what an append does to it.
type keyed struct {
	index  *keyIndex
	st     *keyStatements
	last   int64            // the last number that is taken
	known  map[string]int64 // the rows that the append found or adds
	folded int64            // up to which row it moved keys, 0 for none
}

func newKeyed(index *keyIndex) keyed { return keyed{index: index, known: map[string]int64{}} }

// find returns the number of the row with the key, and 0 if there is none, also not
// among those that this append adds. What it found it need not look for again: all
// items of a session have one dialogue.
func (k *keyed) find(ctx context.Context, key string) (int64, error) {
	if n, ok := k.known[key]; ok {
		return n, nil
	}
	n, err := k.index.find(ctx, k.st, key)
	if n > 0 {
		k.known[key] = n
	}
	return n, err
}

// add returns the number for a new row.
func (k *keyed) add(key string) int64 {
	k.last++
	k.known[key] = k.last
	return k.last
}

// commit makes known what was added.
func (k *keyed) commit() { k.index.appended(k.known, k.last, k.folded) }

func (a *appender) add(ctx context.Context, rows []row) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	if err := a.addTexts(ctx, rows); err != nil {
		return err
	}
	if err := a.addItems(ctx, rows); err != nil {
		return err
	}
	if err := a.addReplies(ctx, rows); err != nil {
		return err
	}
	if err := a.takeLines(ctx, rows); err != nil {
		return err
	}
	a.writeCalls(rows)
	if err := a.addRecords(ctx, rows); err != nil {
		return err
	}
	return a.fold(ctx)
}

// begin learns which numbers are taken and which keys are there.
func (a *appender) begin(ctx context.Context) error {
	var texts, items, replies int64 // up to which number they are in the tables of keys
	err := a.st.numbers.QueryRowContext(ctx).Scan(&a.record, &a.texts.last, &texts, &a.items.last, &items, &a.replies.last, &replies)
	if err == nil {
		err = a.texts.index.catchUp(ctx, a.texts.st, a.texts.last, texts)
	}
	if err == nil {
		err = a.items.index.catchUp(ctx, a.items.st, a.items.last, items)
	}
	if err == nil {
		err = a.replies.index.catchUp(ctx, a.replies.st, a.replies.last, replies)
	}
	return err
}

// fold moves the keys of one table, at most, to where they are found without memory.
// More than one would make a commit long.
func (a *appender) fold(ctx context.Context) (err error) {
	for _, k := range []*keyed{&a.replies, &a.items, &a.texts} {
		if k.folded, err = k.index.fold(ctx, k.st, k.known, k.last); err != nil || k.folded > 0 {
			return err
		}
	}
	return nil
}

// addItems gives each row the number of its item, which it adds if it is new.
func (a *appender) addItems(ctx context.Context, rows []row) error {
	var fresh []*row
	for i := range rows {
		r := &rows[i]
		key := string(r.item.Hash[:])
		n, err := a.items.find(ctx, key)
		if err != nil {
			return err
		}
		if n == 0 {
			n = a.items.add(key)
			fresh = append(fresh, r)
		}
		r.number = n
	}
	return each(ctx, &a.st.items, fresh, func(part []*row, c *cells) {
		for _, r := range part {
			c.add(r.number, r.item.Hash[:], r.item.JSON, places(r.item.Long))
		}
	}, nil)
}

// addRecords writes the records themselves.
func (a *appender) addRecords(ctx context.Context, rows []row) error {
	return each(ctx, &a.st.records, rows, func(part []row, c *cells) {
		for i := range part {
			r := &part[i]
			a.record++
			r.columns(c, a.run, a.record, "")
			if r.rec.Failure != nil {
				a.unjudged++
			}
		}
	}, func(part []row, all bool) error {
		if !all {
			return a.replaceRecords(ctx, part, a.record-int64(len(part)))
		}
		a.records += len(part)
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
		var calls sql.NullString
		if err := a.st.findRecord.QueryRowContext(ctx, a.run, text(r.rec.Item.ID), r.rec.Trial).Scan(&n, &unjudged, &calls); err != nil {
			return err
		}
		if n == number {
			a.records++
			last = n
			continue
		}
		if unjudged {
			a.unjudged--
		}
		var c cells
		r.columns(&c, a.run, n, calls.String)
		if _, err := a.st.setRecord.ExecContext(ctx, append(c.values()[keyColumns:], n)...); err != nil {
			return err
		}
	}
	a.record = last
	return nil
}

// keyColumns is how many columns of a record are its number and its key, which stay.
const keyColumns = 4

// columns adds the columns of a record in the order in which the statements have them, and
// its seal. The calls of an earlier record of the same item and trial go before its own.
func (r *row) columns(c *cells, run, n int64, earlier string) {
	it, begin := r.rec.Item, len(c.list)
	c.add(n, run, text(it.ID), int64(r.rec.Trial))
	c.add(r.number, int64(r.rec.Position), text(it.Category), text(it.Cluster), it.Weight, text(r.rec.Judge))
	if v := r.rec.Verdict; v != nil {
		c.add(text(v.Label), v.Score, nullable(v.Pass), nullable(v.Confidence), nullText(v.Reason), r.aspects, nil, nil)
	} else {
		f := r.rec.Failure
		c.add(nil, nil, nil, nil, nil, nil, text(string(f.Kind)), nullText(f.Detail))
	}
	c.add(r.callsBehind(earlier))
	c.seal(begin, r.item.Hash[:])
}

// callsBehind returns the JSON of earlier calls and those of the row, and NULL if there
// are none.
func (r *row) callsBehind(earlier string) any {
	switch {
	case r.calls == "":
		return nullText(earlier)
	case earlier == "":
		return r.calls
	default:
		return strings.TrimSuffix(earlier, "]") + "," + r.calls[1:]
	}
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
	fresh := make([]freshReply, 0, len(rows))
	for i := range rows {
		for k, c := range rows[i].rec.Calls {
			if c.Reply == nil || c.Reply.Key == "" {
				continue
			}
			f := freshReply{text(c.Reply.Key), c.Reply, rows[i].replies[k]}
			if added, err := a.keep(ctx, f); err != nil {
				return err
			} else if added {
				fresh = append(fresh, f)
			}
		}
	}
	return each(ctx, &a.st.replies, fresh, func(part []freshReply, c *cells) {
		for _, f := range part {
			r, begin := f.reply, len(c.list)
			c.add(a.kept[f.key].n, f.key, f.body, int64(r.Latency), int64(r.Attempts), r.CostMicros, r.Unpriced)
			c.seal(begin, nil)
		}
	}, nil)
}

// A freshReply is one that may be new to the cache.
type freshReply struct {
	key   string
	reply *deem.Reply
	body  string
}

// keep notes what the cache has under the key of a reply, and reports whether it is
// this reply that is to be added.
func (a *appender) keep(ctx context.Context, f freshReply) (added bool, err error) {
	if _, ok := a.kept[f.key]; ok {
		return false, nil
	}
	n, err := a.replies.find(ctx, f.key)
	if err != nil {
		return false, err
	}
	if n == 0 {
		a.kept[f.key] = keptReply{a.replies.add(f.key), f.body}
		return true, nil
	}
	k := keptReply{n: n}
	err = a.st.replyBody.QueryRowContext(ctx, n).Scan(&k.body)
	a.kept[f.key] = k
	return false, err
}

// writeCalls writes down the calls of each row, and counts what they cost.
func (a *appender) writeCalls(rows []row) {
	var all []byte
	for i := range rows {
		r := &rows[i]
		all = all[:0]
		for k := range r.rec.Calls {
			call := &r.rec.Calls[k]
			all = append(all, "[,"[min(k, 1)])
			all = body.AppendCall(all, call, a.numberOf(call.Reply, r.replies[k]), r.replies[k])
			if call.Reply != nil && !call.Reply.Cached {
				a.cost += call.Reply.CostMicros
			}
		}
		if len(all) > 0 {
			r.calls = string(append(all, ']'))
		}
	}
}

// numberOf returns the number of a reply in the cache, and 0 if it is not there. Besides
// a reply without a key, that is a reply whose key belongs to another reply: a request
// that was made again in spite of the cache. The cache keeps the first, and the call
// keeps what it was really told.
func (a *appender) numberOf(r *deem.Reply, said string) int64 {
	if r == nil || r.Key == "" {
		return 0
	}
	if k := a.kept[text(r.Key)]; k.body == said {
		return k.n
	}
	return 0
}
