package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

var _ store.Browser = (*Store)(nil)

// View implements [store.Browser].
func (s *Store) View(ctx context.Context, runID string, v store.View) ([]deem.Record, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	recs, err := s.view(ctx, runID, v)
	return recs, s.explain("read", err)
}

func (s *Store) view(ctx context.Context, runID string, v store.View) ([]deem.Record, error) {
	sel, err := s.selects(ctx, runID, v)
	if err != nil {
		return nil, err
	}
	order := orderOf(v)
	segments, err := s.segments(ctx, sel, order, v.From)
	if err != nil {
		return nil, err
	}
	left := cmp.Or(v.Limit, store.DefaultLimit)
	var page []found
	for _, seg := range segments {
		part, err := s.viewPart(ctx, sel, seg, left, v.Brief)
		if err != nil {
			return nil, err
		}
		page = append(page, part...)
		if left -= len(part); left == 0 {
			break
		}
	}
	return s.finishView(ctx, page, v.WithCalls)
}

// finishView completes the records of a page.
func (s *Store) finishView(ctx context.Context, page []found, withCalls bool) ([]deem.Record, error) {
	cache, recs := &textCache{}, make([]deem.Record, 0, len(page))
	for rest := page; len(rest) > 0; {
		n := fit(rest)
		if err := s.complete(ctx, rest[:n], withCalls, cache); err != nil {
			return nil, err
		}
		for _, f := range rest[:n] {
			recs = append(recs, f.rec)
		}
		rest = rest[n:]
	}
	return recs, nil
}

// A selection is what a view selects, wherever it begins.
type selection struct {
	conditions
	run  int64
	join string
}

// selects returns the conditions on the records r that a view selects.
func (s *Store) selects(ctx context.Context, runID string, v store.View) (*selection, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, err
	}
	sel := &selection{conditions: *newConditions(run, v.Query), run: run}
	if v.Pass != nil {
		sel.term("r.yes = $%d", *v.Pass)
	}
	if v.Against != "" {
		other, err := s.number(ctx, v.Against)
		if err != nil {
			return nil, err
		}
		sel.term(differs, other)
	}
	sel.join = sel.selectText(v.Text)
	return sel, nil
}

// differs is true of a record to which the other run says something else. A failure is
// NULL in yes, which is distinct from yes and no, but not from another failure.
//
// Postgres reads the other run once for each case, into memory: a CASE keeps it from
// making a join of this, for which it has no idea how many records a new run has.
const differs = `CASE WHEN r.yes THEN (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT true)
	WHEN NOT r.yes THEN (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT false)
	ELSE (r.item_id, r.trial) IN (SELECT o.item_id, o.trial FROM records o WHERE o.run = $%[1]d AND o.yes IS NOT NULL) END`

// A viewOrder is the order in which a view is read: that of its records, or with
// backward the opposite.
type viewOrder struct {
	value    string // the column that comes first; "" for none
	down     bool   // the value descends; without a value, the position does
	backward bool
}

func orderOf(v store.View) viewOrder {
	o := viewOrder{down: v.Descending, backward: v.Backward}
	switch v.Order {
	case store.ByScore:
		o.value = "r.score"
	case store.ByConfidence:
		o.value = "r.confidence"
	}
	return o
}

// placeDown reports whether the places of records of one value are read downwards.
func (o viewOrder) placeDown() bool { return o.backward != (o.value == "" && o.down) }

// valueDown reports whether values are read downwards.
func (o viewOrder) valueDown() bool { return o.down != o.backward }

// direction returns how a column is sorted.
func direction(down bool) string {
	if down {
		return " DESC"
	}
	return ""
}

// beyond returns the operator that is true of what is read later.
func beyond(down bool) string {
	if down {
		return "<"
	}
	return ">"
}

// byPlace sorts records of one value. Records of different items may claim one position,
// so the number of the record comes last.
func (o viewOrder) byPlace() string {
	d := direction(o.placeDown())
	return "r.position" + d + ", r.trial" + d + ", r.n" + d
}

// byValue sorts records that have a value.
func (o viewOrder) byValue() string { return o.value + direction(o.valueDown()) + ", " + o.byPlace() }

// A segment is a part of a view that an index has in order. Segments follow each other:
// the rest of the records with the value that was seen last, those with further values,
// and those without one.
type segment struct {
	where string
	args  []any // for $%d in where, in this order
	by    string
}

// segments returns the parts of a view behind a place.
func (s *Store) segments(ctx context.Context, sel *selection, o viewOrder, from *store.Place) ([]segment, error) {
	if from == nil {
		if o.value == "" {
			return []segment{{"true", nil, o.byPlace()}}, nil
		}
		return []segment{o.some(), o.none()}, nil
	}
	n, err := s.recordNumber(ctx, sel.run, from.ID, from.Trial)
	if err != nil {
		return nil, err
	}
	if n == 0 { // The place of no record is behind all that claim its position.
		n = math.MaxInt64
	}
	rest := segment{
		"(r.position, r.trial, r.n) " + beyond(o.placeDown()) + " ($%d, $%d, $%d)",
		[]any{from.Position, from.Trial, n},
		o.byPlace(),
	}
	return o.behind(rest, from.Value), nil
}

// behind returns what follows a place with the given value, of which rest are the
// records with that value.
func (o viewOrder) behind(rest segment, value *float64) []segment {
	switch {
	case o.value == "":
		return []segment{rest}
	case value == nil && o.backward:
		rest.where = o.value + " IS NULL AND " + rest.where
		return []segment{rest, o.some()}
	case value == nil:
		rest.where = o.value + " IS NULL AND " + rest.where
		return []segment{rest}
	}
	rest.where = rest.where + " AND " + o.value + " = $%d"
	rest.args = append(rest.args, *value)
	further := segment{o.value + " " + beyond(o.valueDown()) + " $%d", []any{*value}, o.byValue()}
	if o.backward {
		return []segment{rest, further}
	}
	return []segment{rest, further, o.none()}
}

// some are all records with a value, none those without.
func (o viewOrder) some() segment { return segment{o.value + " IS NOT NULL", nil, o.byValue()} }
func (o viewOrder) none() segment { return segment{o.value + " IS NULL", nil, o.byPlace()} }

// viewPart reads records of a segment.
func (s *Store) viewPart(ctx context.Context, sel *selection, seg segment, limit int, brief bool) ([]found, error) {
	args := slices.Clone(sel.args)
	numbers := make([]any, len(seg.args))
	for i, arg := range seg.args {
		args = append(args, arg)
		numbers[i] = len(args)
	}
	args = append(args, limit)
	where := sel.String() + " AND " + fmt.Sprintf(seg.where, numbers...)
	query := selectRecords(sel.join, where, seg.by, len(args), brief)
	return s.readPage(ctx, query, args, brief)
}

// Count implements [store.Browser].
func (s *Store) Count(ctx context.Context, runID string, v store.View) (store.Counts, error) {
	if err := v.Check(); err != nil {
		return store.Counts{}, err
	}
	counts, err := s.count(ctx, runID, v)
	return counts, s.explain("count records in", err)
}

func (s *Store) count(ctx context.Context, runID string, v store.View) (store.Counts, error) {
	sel, err := s.selects(ctx, runID, v)
	if err != nil {
		return store.Counts{}, err
	}
	var t tally
	err = s.retry(ctx, func(ctx context.Context) error {
		t = tally{map[string]int{}, map[string]int{}, map[string]int{}}
		rows, err := s.pool.Query(ctx, fmt.Sprintf(`SELECT r.category, r.label, r.kind, count(*) FROM records r %s WHERE %s
			GROUP BY r.category, r.label, r.kind`, sel.join, sel.String()), sel.args...)
		if err != nil {
			return err
		}
		var category string
		var label, kind *string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&category, &label, &kind, &n}, func() error {
			t.add(category, label, kind, n)
			return nil
		})
		return err
	})
	return t.counts(), err
}

// A tally counts what records say.
type tally struct {
	categories, labels, kinds map[string]int
}

func (t *tally) add(category string, label, kind *string, n int) {
	t.categories[unpack(category)] += n
	if label != nil {
		t.labels[unpack(*label)] += n
	}
	if kind != nil {
		t.kinds[unpack(*kind)] += n
	}
}

func (t *tally) counts() store.Counts {
	c := store.Counts{Categories: ranked(t.categories), Labels: ranked(t.labels), Kinds: ranked(t.kinds)}
	for _, n := range t.categories {
		c.Total += n
	}
	for _, n := range t.kinds {
		c.Unjudged += n
	}
	return c
}

// ranked returns counts, the largest first.
func ranked(counts map[string]int) []store.Count {
	list := make([]store.Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, store.Count{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b store.Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}
