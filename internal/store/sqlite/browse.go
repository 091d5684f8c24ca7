package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
)

// Views have no index for every filter and order, because each append would have to
// maintain it. A view walks along the index by position and stops when the page is full, or
// sorts the records it found. That index also contains the sort values and the number of
// the item, so that sorting or searching a million records reads only the table rows of the
// page.

// saysYes is [deem.Verdict.Yes] of the record with the given alias, or NULL for a failure.
func saysYes(alias string) string {
	return "coalesce(" + alias + ".pass, " + alias + ".score >= 0.5)"
}

// View implements [store.Browser].
func (s *Store) View(ctx context.Context, runID string, v store.View) (recs []deem.Record, err error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	defer func() { err = s.explain("read", err) }()
	where, err := s.selects(ctx, runID, v)
	if err != nil {
		return nil, err
	}
	order, limit := store.ViewOrderOf(v), cmp.Or(v.Limit, store.DefaultLimit)
	if v.From != nil {
		if err := s.continues(ctx, &where, order, *v.From); err != nil {
			return nil, err
		}
	}
	if where.whole && order.Value != "" && !v.Backward {
		where.bound(order, limit)
	}
	rows, err := s.read.QueryContext(ctx, viewQuery(where, order, v), append(where.args, limit)...)
	if err != nil {
		return nil, err
	}
	page, err := readPage(rows, v.Query, limit)
	if err != nil {
		return nil, err
	}
	texts, recs := newTextReader(s), make([]deem.Record, len(page))
	for i := range page {
		if err := texts.fill(ctx, &page[i]); err != nil {
			return nil, err
		}
		recs[i] = page[i].rec
	}
	return recs, nil
}

// viewQuery returns the query for one page, without long texts. It finds the records of the
// page without reading their items, but in one statement, so that no record appears that
// was replaced meanwhile and no longer belongs there.
func viewQuery(where selection, order store.ViewOrder, v store.View) string {
	// Records without a value come last in both directions.
	sorted := order.ByPlace()
	if order.Value != "" {
		nulls := " NULLS LAST, "
		if order.Backward {
			nulls = " NULLS FIRST, "
		}
		sorted = strings.Replace(order.ByValue(), ", ", nulls, 1)
	}
	columns, join, calls := rowShape(v.Query)
	return fmt.Sprintf(`SELECT %s FROM (SELECT r.n AS chosen FROM records r INDEXED BY %s WHERE %s ORDER BY %s LIMIT ?)
		CROSS JOIN records r ON r.n = chosen %s ORDER BY %s%s`,
		columns, where.index, strings.Join(where.terms, " AND "), sorted, join, sorted, calls)
}

// A selection is the records that a view selects, wherever it begins.
type selection struct {
	conditions
	run   int64
	index string
	whole bool // there are no conditions but the run
}

// boundSample is the number of records that the bound of a page is taken from. Tests lower it.
var boundSample = 20_000

// bound adds the condition that a value is not beyond the one that ends the page among the
// first records of the selection. Those already fill a page, so no record of the page is
// lost, and sorting a million records takes two thirds of the time. Values are from 0 to 1;
// without enough values there is no bound. With filters the rows have to be read anyway, and
// reading the first ones twice costs more than it saves.
func (sel *selection) bound(o store.ViewOrder, limit int) {
	op, null, none := "<=", 2, 9
	if o.BeyondValue() == "<" {
		op, null, none = ">=", -2, -9
	}
	sorted, _, _ := strings.Cut(o.ByValue(), ", ")
	args := append(slices.Clone(sel.args), boundSample, limit-1)
	sel.and(fmt.Sprintf(`coalesce(%[1]s, %[2]d) %[3]s coalesce((SELECT value FROM (SELECT %[1]s AS value FROM records r INDEXED BY %[4]s WHERE %[5]s LIMIT ?)
		WHERE value IS NOT NULL ORDER BY %[6]s LIMIT 1 OFFSET ?), %[7]d)`,
		o.Value, null, op, sel.index, strings.Join(sel.terms, " AND "), strings.Replace(sorted, o.Value, "value", 1), none), args...)
}

// selects returns the conditions on the records r of a view.
func (s *Store) selects(ctx context.Context, runID string, v store.View) (selection, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return selection{}, err
	}
	sel := selection{conditions: newConditions(run, v.Query), run: run, index: "records_position"}
	if len(v.IDs) > 0 && len(v.IDs) <= fewIDs {
		sel.index = "records_item"
	}
	if v.Pass != nil {
		sel.and(saysYes("r")+" = ?", *v.Pass)
	}
	if v.Against != "" {
		other, err := s.number(ctx, v.Against)
		if err != nil {
			return selection{}, err
		}
		// A failure is NULL here: IS NOT distinguishes it from yes and no, but not from
		// another failure.
		sel.and(`EXISTS (SELECT 1 FROM records o INDEXED BY records_item
			WHERE o.run = ? AND o.item_id = r.item_id AND o.trial = r.trial AND `+saysYes("o")+" IS NOT "+saysYes("r")+")", other)
	}
	err = s.selectText(ctx, &sel, v.Text)
	sel.whole = len(sel.terms) == 1
	return sel, err
}

// continues adds the condition that a record comes after the given place.
func (s *Store) continues(ctx context.Context, sel *selection, o store.ViewOrder, from store.Place) error {
	n, err := s.recordNumber(ctx, sel.run, from.Cursor)
	if err != nil {
		return err
	}
	behind := store.PlaceColumns + " " + o.BeyondPlace() + " (?, ?, ?)"
	at := []any{from.Position, from.Trial, n}
	switch {
	case o.Value == "":
		sel.and(behind, at...)
	case from.Value == nil && o.Backward:
		sel.and("("+o.Value+" IS NOT NULL OR "+behind+")", at...)
	case from.Value == nil:
		sel.and("("+o.Value+" IS NULL AND "+behind+")", at...)
	default:
		term := "(" + o.Value + " " + o.BeyondValue() + " ? OR " + o.Value + " = ? AND " + behind
		if !o.Backward {
			term += " OR " + o.Value + " IS NULL"
		}
		sel.and(term+")", append([]any{*from.Value, *from.Value}, at...)...)
	}
	return nil
}

// recordNumber returns the number of the record at a place. If there is none, the place is
// after all records with its position.
func (s *Store) recordNumber(ctx context.Context, run int64, at store.Cursor) (int64, error) {
	var n int64
	err := s.query.find.QueryRowContext(ctx, run, text(at.ID), at.Trial).Scan(&n, new(bool))
	if errors.Is(err, sql.ErrNoRows) {
		return math.MaxInt64, nil
	}
	return n, err
}

// Separators that do not occur in ordinary names.
const (
	afterRecord   = "\x1e"
	beforeLabel   = "\x1f"
	beforeFailure = "\x1d"
)

// Count implements [store.Browser].
func (s *Store) Count(ctx context.Context, runID string, v store.View) (counts store.Counts, err error) {
	if err := v.Check(); err != nil {
		return counts, err
	}
	defer func() { err = s.explain("count records in", err) }()
	where, err := s.selects(ctx, runID, v)
	if err != nil {
		return new(store.Tally).Counts(), err
	}
	from := fmt.Sprintf("FROM records r INDEXED BY %s WHERE %s", where.index, strings.Join(where.terms, " AND "))
	// The query returns the data to count of all records in one text: the category and the
	// label, or the category and the kind. Returning 100,000 rows one by one takes twice as
	// long as scanning them, and grouping in SQLite, which sorts, five times.
	var n int
	var said string
	err = s.read.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*), coalesce(group_concat(r.category || coalesce('%s' || r.label, '%s' || r.kind), '%s'), '') %s`,
		beforeLabel, beforeFailure, afterRecord, from), where.args...).Scan(&n, &said)
	if err != nil {
		return counts, err
	}
	t, ok := readTally(said, n)
	if ok {
		return t.Counts(), nil
	}
	// Some names contain our separators after all.
	t = store.Tally{}
	_, err = collect(ctx, s, func(row scanner) (n int, err error) {
		var category, name string
		var failed bool
		if err = row.Scan(&category, &name, &failed, &n); err == nil {
			t.Add(category, name, failed, n)
		}
		return n, err
	}, `SELECT r.category, coalesce(r.label, r.kind), r.kind IS NOT NULL, count(*) `+from+` GROUP BY 1, 2, 3`, where.args...)
	return t.Counts(), err
}

// readTally counts the text of n records that the query of Count returns. It returns false if names
// contain separators: then there are more parts than records, or a part has more than one
// separator.
func readTally(said string, n int) (t store.Tally, ok bool) {
	if n == 0 {
		return t, true
	}
	// Few records are distinct, so each distinct text is parsed only once.
	alike := map[string]int{}
	for part := range strings.SplitSeq(said, afterRecord) {
		alike[part]++
		n--
	}
	for part, count := range alike {
		at := strings.IndexAny(part, beforeLabel+beforeFailure)
		if at < 0 || at != strings.LastIndexAny(part, beforeLabel+beforeFailure) {
			return t, false
		}
		t.Add(part[:at], part[at+1:], part[at:at+1] == beforeFailure, count)
	}
	return t, n == 0
}
