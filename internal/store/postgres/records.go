package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// pageRows is how many records are read at once.
const pageRows = 256

// Records implements [store.Store].
func (s *Store) Records(ctx context.Context, runID string, q store.Query) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		if err := s.eachRecord(ctx, runID, q, func(rec deem.Record) bool { return yield(rec, nil) }); err != nil {
			yield(deem.Record{}, s.explain("read", err))
		}
	}
}

// eachRecord passes the records to yield until it returns false. No connection is held
// while the caller has a record, however long that takes.
//
// Each page begins after the last record of the previous one, which the index finds
// directly. Different items may have the same position, so the number of the record decides.
func (s *Store) eachRecord(ctx context.Context, runID string, q store.Query, yield func(deem.Record) bool) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return err
	}
	missing, err := s.counted(ctx, run, q)
	if err != nil {
		return err
	}
	where := newConditions(run, q)
	args := slices.Clone(where.args)
	where.and(store.PlaceColumns+" > ($%d, $%d, $%d)", 0, 0, 0)
	limit := where.add(0)
	query := selectRecords(where.String(), "r.position, r.trial, r.n", limit, q.Brief)
	after := []any{-1, 0, 0}
	if q.After != nil {
		n, err := s.recordNumber(ctx, run, *q.After)
		if err != nil {
			return err
		}
		after = []any{q.After.Position, q.After.Trial, n}
	}
	left, cache := math.MaxInt, &textCache{}
	if q.Limit > 0 {
		left = q.Limit
	}
	for left > 0 {
		rows := min(pageRows, left)
		page, err := s.readPage(ctx, query, slices.Concat(args, after, []any{rows}), q.Brief)
		if err != nil {
			return err
		}
		missing -= len(page)
		if left -= len(page); len(page) < rows {
			left = 0
		}
		if len(page) > 0 {
			last := page[len(page)-1]
			after = []any{last.rec.Position, last.rec.Trial, last.n}
		}
		for part := range fitting(page) {
			if err := s.complete(ctx, part, q, cache); err != nil {
				return err
			}
			for i := range part {
				if !yield(part[i].rec) {
					return nil
				}
				part[i] = found{} // release the texts
			}
		}
	}
	if missing > 0 {
		return altered("the list of records of run %q", runID)
	}
	return nil
}

// counted returns the number of records that a run had when it was last written to, if q
// selects all of them, and otherwise 0.
func (s *Store) counted(ctx context.Context, run int64, q store.Query) (records int, err error) {
	var trials int
	err = s.retry(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT trials, (SELECT coalesce(sum(records), 0)::bigint FROM counts WHERE run = n)
			FROM runs WHERE n = $1`, run).Scan(&trials, &records)
	})
	if err != nil || !q.Whole(trials) {
		return 0, err
	}
	return records, nil
}

// found is a record that was read, and what is needed to read its long texts and its calls.
type found struct {
	rec    deem.Record
	places map[string]textRef
	n      int64
	calls  int

	now, seen int // how many calls the record has when they are read, and how many were read
}

// fitRows and fitBytes limit how many records get their long texts and calls at once: some
// items may be very long.
const (
	fitRows  = 256
	fitBytes = 1 << 20
)

// fitting splits records into parts that are completed together.
func fitting(page []found) iter.Seq[[]found] {
	return split(page, fitRows, fitBytes, func(f found) (size int) {
		for _, ref := range f.places {
			size += ref.size
		}
		return size
	})
}

// complete reads the long texts and the calls of records.
func (s *Store) complete(ctx context.Context, page []found, q store.Query, cache *textCache) error {
	if err := s.fillTexts(ctx, page, cache); err != nil {
		return err
	}
	if !q.WithCalls {
		return nil
	}
	return s.retry(ctx, func(ctx context.Context) error { return s.loadCalls(ctx, page, q.Brief) })
}

// selectRecords returns a query for scanRecord. Argument limit is the maximum number of
// records. The records are chosen before their items are looked up, one by one: otherwise
// Postgres would rather read all items.
func selectRecords(where, by string, limit int, brief bool) string {
	columns, items := "i.body, i.texts", "LEFT JOIN LATERAL (SELECT body, texts FROM items WHERE hash = r.item LIMIT 1) i ON true"
	if brief {
		columns, items = "NULL::text, NULL::text", ""
	}
	return fmt.Sprintf(`SELECT r.n, r.run, r.item_id, r.item_key, r.item, r.position, r.trial, r.category, r.cluster, r.weight, r.judge,
		r.label, r.score, r.pass, r.confidence, r.reason, r.parts, r.kind, r.detail, r.sum, r.calls, %s
		FROM (SELECT r.* FROM records r WHERE %s ORDER BY %s LIMIT $%d) r %s ORDER BY %s`,
		columns, where, by, limit, items, by)
}

// conditions are the terms of a WHERE clause and the arguments for them.
type conditions struct {
	terms []string
	args  []any
}

// add adds an argument and returns its number.
func (c *conditions) add(arg any) int {
	c.args = append(c.args, arg)
	return len(c.args)
}

// and adds a condition in which each %d becomes the number of the next argument.
func (c *conditions) and(format string, args ...any) {
	numbers := make([]any, len(args))
	for i, arg := range args {
		numbers[i] = c.add(arg)
	}
	c.terms = append(c.terms, fmt.Sprintf(format, numbers...))
}

// String returns the clause.
func (c *conditions) String() string { return strings.Join(c.terms, " AND ") }

func newConditions(run int64, q store.Query) *conditions {
	c := &conditions{}
	if len(q.IDs) > 0 { // The keys of items are specific to a run.
		keys := make([][]byte, len(q.IDs))
		for i, id := range q.IDs {
			keys[i] = keyOf(run, id)
		}
		c.and("r.item_key = ANY ($%d::bytea[])", keys)
	} else {
		c.and("r.run = $%d", run)
	}
	c.oneOf("r.label", q.Labels)
	c.oneOf("r.category", q.Categories)
	if len(q.Kinds) > 0 {
		c.and("r.kind = ANY ($%d::text[])", packAll(q.Kinds))
	}
	if q.Unjudged || len(q.Kinds) > 0 {
		c.and("r.kind IS NOT NULL")
	}
	if q.Trial != nil {
		c.and("r.trial = $%d", int64(*q.Trial))
	}
	return c
}

// oneOf requires any of values; without values it adds nothing. The index has prefixes of
// values.
func (c *conditions) oneOf(column string, values []string) {
	switch len(values) {
	case 0:
	case 1:
		c.and(column+" = $%[1]d AND left("+column+", 100) = left($%[1]d, 100)", pack(values[0]))
	default:
		c.and(column+" = ANY ($%d::text[])", packAll(values))
	}
}

// recordNumber returns the number of the record at a place. If there is none, the place is
// after all records with its position.
func (s *Store) recordNumber(ctx context.Context, run int64, at store.Cursor) (n int64, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, `SELECT n FROM records WHERE item_key = $1 AND trial = $2`, keyOf(run, at.ID), at.Trial).Scan(&n)
		if errors.Is(err, pgx.ErrNoRows) {
			n, err = math.MaxInt64, nil
		}
		return err
	})
	return n, err
}

// readPage reads the records of a query.
func (s *Store) readPage(ctx context.Context, query string, args []any, brief bool) (page []found, err error) {
	return collect(ctx, s, func(row pgx.Row) (found, error) { return scanRecord(row, brief) }, query, args...)
}

// scanRecord reads a row of selectRecords.
func scanRecord(row pgx.Row, brief bool) (found, error) {
	var f found
	var c recordRow
	var item, places *string
	var sum []byte
	err := row.Scan(&f.n, &c.run, &c.id, &c.key, &c.item, &c.position, &c.trial, &c.category, &c.cluster, &c.weight, &c.judge,
		&c.label, &c.score, &c.pass, &c.confidence, &c.reason, &c.parts, &c.kind, &c.detail, &sum, &f.calls, &item, &places)
	if err != nil {
		return found{}, err
	}
	f.rec = deem.Record{Position: int(c.position), Trial: int(c.trial), Judge: unpack(c.judge)}
	f.rec.Item = deem.Item{ID: unpack(c.id), Category: unpack(c.category), Cluster: unpack(c.cluster), Weight: c.weight}
	if !bytes.Equal(sum, c.seal()) {
		return found{}, altered("record %d, of item %q,", f.n, f.rec.Item.ID)
	}
	if !brief {
		if err := f.decodeItem(c.item, item, places); err != nil {
			return found{}, err
		}
	}
	switch {
	case c.kind != nil:
		f.rec.Failure = &deem.Failure{Kind: deem.Kind(unpack(*c.kind)), Detail: unpackNull(c.detail)}
	case c.score != nil:
		f.rec.Verdict = &deem.Verdict{
			Label: unpackNull(c.label), Score: *c.score, Pass: c.pass, Confidence: c.confidence, Reason: unpackNull(c.reason),
		}
	default:
		err = errors.New("it has neither a verdict nor a failure")
	}
	if err == nil && c.parts != nil {
		err = store.DecodeParts(*c.parts, &f.rec)
	}
	if f.rec.Answer != nil && !brief {
		f.rec.Item.Response = *f.rec.Answer
	}
	if err != nil {
		return found{}, fmt.Errorf("decode verdict on item %q: %w", f.rec.Item.ID, err)
	}
	return f, nil
}

// decodeItem decodes the JSON of the complete item, and checks it against its hash.
func (f *found) decodeItem(hash []byte, item, places *string) error {
	id := f.rec.Item.ID
	if item == nil {
		return altered("item %q, which is missing,", id)
	}
	if places != nil && store.DecodeJSON(*places, &f.places) != nil {
		return altered("the list of texts of item %q", id)
	}
	texts := make([]store.LongText, 0, len(f.places))
	for _, place := range slices.Sorted(maps.Keys(f.places)) {
		texts = append(texts, store.LongText{Place: place, Hash: f.places[place].hash})
	}
	if sum := store.ItemSum([]byte(*item), texts); !bytes.Equal(sum[:], hash) {
		return altered("item %q", id)
	}
	if err := store.DecodeJSON(*item, &f.rec.Item); err != nil {
		return fmt.Errorf("decode item %q: %w", id, err)
	}
	return nil
}
