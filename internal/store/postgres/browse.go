package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// View implements [store.Browser].
func (s *Store) View(ctx context.Context, runID string, v store.View) (recs []deem.Record, err error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	defer func() { err = s.explain("read", err) }()
	sel, err := s.selects(ctx, runID, v)
	if err != nil {
		return nil, err
	}
	segments, err := s.segments(ctx, sel, store.ViewOrderOf(v), v.From)
	if err != nil {
		return nil, err
	}
	left := cmp.Or(v.Limit, store.DefaultLimit)
	var page []found
	for _, seg := range segments {
		where := conditions{slices.Clone(sel.terms), slices.Clone(sel.args)}
		where.and(seg.where, seg.args...)
		last := where.add(left)
		part, err := s.readPage(ctx, selectRecords(where.String(), seg.by, last, v.Brief), where.args, v.Brief)
		if err != nil {
			return nil, err
		}
		page = append(page, part...)
		if left -= len(part); left == 0 {
			break
		}
	}
	cache, recs := &textCache{}, make([]deem.Record, 0, len(page))
	for part := range fitting(page) {
		if err := s.complete(ctx, part, v.Query, cache); err != nil {
			return nil, err
		}
		for _, f := range part {
			recs = append(recs, f.rec)
		}
	}
	return recs, nil
}

// A selection is the records that a view selects, wherever it begins.
type selection struct {
	conditions
	run int64
}

// selects returns the conditions on the records r of a view.
func (s *Store) selects(ctx context.Context, runID string, v store.View) (*selection, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, err
	}
	sel := &selection{conditions: *newConditions(run, v.Query), run: run}
	if v.Pass != nil {
		sel.and("r.yes = $%d", *v.Pass)
	}
	if v.Against != "" {
		other, err := s.number(ctx, v.Against)
		if err != nil {
			return nil, err
		}
		sel.and(differs, other)
	}
	return sel, s.selectText(ctx, sel, v.Text)
}

// differs is true for a record that differs from that of the other run. A failure is NULL
// in yes, which is distinct from yes and no, but not from another failure.
//
// Postgres reads the other run once for each case, into memory: the CASE prevents a join,
// for which Postgres cannot estimate the number of records of a new run.
const differs = `CASE WHEN r.yes THEN (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT true)
	WHEN NOT r.yes THEN (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT false)
	ELSE (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT NULL) END`

// A segment is a part of a view that an index has in order. Segments follow each other: the
// rest of the records with the value seen last, those with further values, and those
// without one.
type segment struct {
	where string
	args  []any // for $%d in where, in this order
	by    string
}

// segments returns the parts of a view after a place.
func (s *Store) segments(ctx context.Context, sel *selection, o store.ViewOrder, from *store.Place) ([]segment, error) {
	if from == nil {
		if o.Value == "" {
			return []segment{{"true", nil, o.ByPlace()}}, nil
		}
		return []segment{some(o), none(o)}, nil
	}
	n, err := s.recordNumber(ctx, sel.run, from.Cursor)
	if err != nil {
		return nil, err
	}
	// The rest of the records with the value of the place.
	rest := segment{
		store.PlaceColumns + " " + o.BeyondPlace() + " ($%d, $%d, $%d)",
		[]any{from.Position, from.Trial, n},
		o.ByPlace(),
	}
	switch {
	case o.Value == "":
		return []segment{rest}, nil
	case from.Value == nil:
		rest.where = o.Value + " IS NULL AND " + rest.where
		if o.Backward {
			return []segment{rest, some(o)}, nil
		}
		return []segment{rest}, nil
	}
	rest.where = rest.where + " AND " + o.Value + " = $%d"
	rest.args = append(rest.args, *from.Value)
	further := segment{o.Value + " " + o.BeyondValue() + " $%d", []any{*from.Value}, o.ByValue()}
	if o.Backward {
		return []segment{rest, further}, nil
	}
	return []segment{rest, further, none(o)}, nil
}

// some are all records with a value, none those without.
func some(o store.ViewOrder) segment { return segment{o.Value + " IS NOT NULL", nil, o.ByValue()} }
func none(o store.ViewOrder) segment { return segment{o.Value + " IS NULL", nil, o.ByPlace()} }

// Count implements [store.Browser].
func (s *Store) Count(ctx context.Context, runID string, v store.View) (store.Counts, error) {
	if err := v.Check(); err != nil {
		return store.Counts{}, err
	}
	sel, err := s.selects(ctx, runID, v)
	if err != nil {
		return store.Counts{}, s.explain("count records in", err)
	}
	var t store.Tally
	err = s.retry(ctx, func(ctx context.Context) error {
		t = store.Tally{}
		rows, err := s.pool.Query(ctx, fmt.Sprintf(`SELECT r.category, coalesce(r.label, r.kind), r.kind IS NOT NULL, count(*)
			FROM records r WHERE %s GROUP BY r.category, r.label, r.kind`, sel.String()), sel.args...)
		if err != nil {
			return err
		}
		var category, name string
		var failed bool
		var n int
		_, err = pgx.ForEachRow(rows, []any{&category, &name, &failed, &n}, func() error {
			t.Add(unpack(category), unpack(name), failed, n)
			return nil
		})
		return err
	})
	return t.Counts(), s.explain("count records in", err)
}
