package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
)

// A page of records or runs is read at once. It is limited in rows, and in bytes because
// some items may be very long.
const (
	pageRows  = 1024
	pageRuns  = 64
	pageBytes = 1 << 20
)

// Records implements [store.Store].
func (s *Store) Records(ctx context.Context, runID string, q store.Query) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		if err := s.eachRecord(ctx, runID, q, func(rec deem.Record) bool { return yield(rec, nil) }); err != nil {
			yield(deem.Record{}, s.explain("read", err))
		}
	}
}

// eachRecord passes the records to yield until it returns false. Each page begins after the
// last record of the previous one, which the index finds directly. Different items may have
// the same position, so the number of the record decides.
func (s *Store) eachRecord(ctx context.Context, runID string, q store.Query, yield func(deem.Record) bool) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return err
	}
	missing, err := s.counted(ctx, run, q)
	if err != nil {
		return err
	}
	query, args := recordQuery(run, q)
	prepared, err := s.read.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer prepared.Close() //nolint:errcheck // Losing it does no harm.
	after := []any{-1, 0, 0}
	if q.After != nil {
		n, err := s.recordNumber(ctx, run, *q.After)
		if err != nil {
			return err
		}
		after = []any{q.After.Position, q.After.Trial, n}
	}
	left, texts := math.MaxInt, newTextReader(s)
	if q.Limit > 0 {
		left = q.Limit
	}
	for left > 0 {
		rows, err := prepared.QueryContext(ctx, slices.Concat(args, after)...)
		if err != nil {
			return err
		}
		page, err := readPage(rows, q, min(pageRows, left))
		switch {
		case err != nil:
			return err
		case len(page) == 0 && missing > 0:
			return altered("the list of records of run %q", runID)
		case len(page) == 0:
			return nil
		}
		last := page[len(page)-1]
		after, left, missing = []any{last.rec.Position, last.rec.Trial, last.n}, left-len(page), missing-len(page)
		// No row is held while the caller has the record, however long that takes.
		for i := range page {
			if err := texts.fill(ctx, &page[i]); err != nil {
				return err
			}
			if !yield(page[i].rec) {
				return nil
			}
			page[i] = found{} // release the texts
		}
	}
	return nil
}

// counted returns the number of records that a run had when it was last written to, if q
// selects all of them, and otherwise 0.
func (s *Store) counted(ctx context.Context, run int64, q store.Query) (int, error) {
	var records, trials int
	err := s.read.QueryRowContext(ctx, `SELECT records, trials FROM runs WHERE n = ?`, run).Scan(&records, &trials)
	if err != nil || !q.Whole(trials) {
		return 0, err
	}
	return records, nil
}

// recordQuery returns the query for records after a place, and its arguments before that
// place. The reader stops it at the end of a page.
//
// SQLite would choose the index by statistics that it does not have. In all indexes except
// that of the ids, the selected records are in order, so that the cost of a page is
// proportional to its size. Labels and categories have no index, because every append would
// have to maintain it: for them the run is scanned.
func recordQuery(run int64, q store.Query) (query string, args []any) {
	where, index := newConditions(run, q), "records_position"
	switch {
	case len(q.IDs) > 0 && len(q.IDs) <= fewIDs:
		index = "records_item"
	case q.Unjudged || len(q.Kinds) > 0:
		index = "records_unjudged"
	}
	columns, join, order := rowShape(q)
	return fmt.Sprintf(`SELECT %s FROM records r INDEXED BY %s %s WHERE %s AND (r.position, r.trial, r.n) > (?, ?, ?)
		ORDER BY r.position, r.trial, r.n%s`, columns, index, join, strings.Join(where.terms, " AND "), order), where.args
}

// fewIDs is the maximum number of ids that are looked up one by one. More are found by
// scanning the run, because looked-up records must be sorted for every page.
const fewIDs = 64

// conditions are the terms of a WHERE clause and the arguments for them.
type conditions struct {
	terms []string
	args  []any
}

func newConditions(run int64, q store.Query) conditions {
	c := conditions{terms: []string{"r.run = ?"}, args: []any{run}}
	c.oneOf("r.label", q.Labels)
	c.oneOf("r.category", q.Categories)
	c.oneOf("r.item_id", q.IDs)
	kinds := make([]string, len(q.Kinds))
	for i, kind := range q.Kinds {
		kinds[i] = string(kind)
	}
	c.oneOf("r.kind", kinds)
	if q.Unjudged {
		c.and("r.kind IS NOT NULL")
	}
	if q.Trial != nil {
		c.and("r.trial = ?", *q.Trial)
	}
	return c
}

// and adds a condition.
func (c *conditions) and(term string, args ...any) {
	c.terms, c.args = append(c.terms, term), append(c.args, args...)
}

// oneOf requires any of values; without values it adds nothing.
func (c *conditions) oneOf(column string, values []string) {
	switch len(values) {
	case 0:
		return
	case 1:
		c.and(column+" = ?", text(values[0]))
		return
	}
	list, err := store.EncodeJSON(values)
	if err != nil {
		panic(fmt.Sprintf("sqlite: strings have no JSON: %v", err))
	}
	c.and(column+" IN (SELECT value FROM json_each(?))", list)
}

// text returns s in the stored form.
func text(s string) string { return store.ValidText(s) }

// nullText is text, but NULL for "".
func nullText(s string) any {
	if s == "" {
		return nil
	}
	return text(s)
}
