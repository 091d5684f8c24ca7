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

var _ store.Browser = (*Store)(nil)

// The records of a run lie together, and to read through 100,000 of them takes a
// twentieth of a second. So a view has no index of its own for every filter and order,
// which each append would have to pay for: it walks along the run by position and stops
// when the page is full, or sorts what it found.

// recordColumns are the columns that [pager.scan] reads, but for the item's.
const recordColumns = `r.n, r.item_id, r.position, r.trial, r.category, r.cluster, r.weight, r.judge,
	r.label, r.score, r.pass, r.confidence, r.reason, r.aspects, r.kind, r.detail, r.calls`

// saysYes is [deem.Verdict.Yes] of the record with the given alias, NULL for a failure.
func saysYes(alias string) string {
	return "coalesce(" + alias + ".pass, " + alias + ".score >= 0.5)"
}

// View implements [store.Browser].
func (s *Store) View(ctx context.Context, runID string, v store.View) ([]deem.Record, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	recs, err := s.view(ctx, runID, v)
	return recs, s.explain("read", err)
}

func (s *Store) view(ctx context.Context, runID string, v store.View) ([]deem.Record, error) {
	where, err := s.selects(ctx, runID, v)
	if err != nil || where.nothing {
		return nil, err
	}
	order := orderOf(v)
	if v.From != nil {
		if err := s.continues(ctx, &where, order, *v.From); err != nil {
			return nil, err
		}
	}
	page, err := s.viewPage(ctx, where, order, v)
	if err != nil {
		return nil, err
	}
	texts, recs := newTextReader(s), make([]deem.Record, len(page))
	for i := range page {
		if err := texts.fill(ctx, &page[i]); err != nil {
			return nil, err
		}
		if v.WithCalls && i%callsRows == 0 {
			if err := s.loadCalls(ctx, page[i:min(i+callsRows, len(page))]); err != nil {
				return nil, err
			}
		}
		recs[i] = page[i].rec
	}
	return recs, nil
}

// viewQuery returns the query for one page, without long texts and calls. Which records
// are on it is found without looking at their items; but in one statement, so that none
// is there that was replaced meanwhile and does not belong there any more.
func viewQuery(where selection, order viewOrder, brief bool) string {
	body, join := "i.body, i.texts", "CROSS JOIN items i ON i.n = r.item"
	if brief {
		body, join = "NULL, NULL", ""
	}
	by := order.by()
	return fmt.Sprintf(`SELECT %s, %s FROM (SELECT r.n AS chosen FROM records r INDEXED BY %s WHERE %s ORDER BY %s LIMIT ?)
		CROSS JOIN records r ON r.n = chosen %s ORDER BY %s`,
		recordColumns, body, where.index, strings.Join(where.terms, " AND "), by, join, by)
}

// viewPage reads the records of one page.
func (s *Store) viewPage(ctx context.Context, where selection, order viewOrder, v store.View) ([]found, error) {
	limit := cmp.Or(v.Limit, store.DefaultLimit)
	rows, err := s.read.QueryContext(ctx, viewQuery(where, order, v.Brief), append(where.args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	p := pager{s: s, brief: v.Brief}
	var page []found
	for rows.Next() {
		f, _, err := p.scan(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, f)
	}
	return page, rows.Err()
}

// A selection is what a view selects, wherever it begins.
type selection struct {
	conditions
	run     int64
	index   string
	nothing bool // no record can meet the conditions
}

// and adds a condition.
func (sel *selection) and(term string, args ...any) {
	sel.terms, sel.args = append(sel.terms, term), append(sel.args, args...)
}

// selects returns the conditions on the records r that a view selects.
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
		// A failure is NULL here, which IS NOT tells from yes and no, but not from
		// another failure.
		sel.and(`EXISTS (SELECT 1 FROM records o INDEXED BY records_item
			WHERE o.run = ? AND o.item_id = r.item_id AND o.trial = r.trial AND `+saysYes("o")+" IS NOT "+saysYes("r")+")", other)
	}
	err = s.selectText(ctx, &sel, v.Text)
	return sel, err
}

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

// place are the columns that settle the order among records of equal value. Records of
// different items may claim one position, so the number of the record comes last.
const place = "(r.position, r.trial, r.n)"

// placeDown reports whether places are read downwards.
func (o viewOrder) placeDown() bool { return o.backward != (o.value == "" && o.down) }

// by returns the ORDER BY clause.
func (o viewOrder) by() string {
	direction := func(down bool) string {
		if down {
			return " DESC"
		}
		return ""
	}
	d := direction(o.placeDown())
	places := "r.position" + d + ", r.trial" + d + ", r.n" + d
	if o.value == "" {
		return places
	}
	// Records without a value come last, whichever way the values go.
	return "(" + o.value + " IS NULL)" + direction(o.backward) + ", " + o.value + direction(o.down != o.backward) + ", " + places
}

// beyond returns the operator that is true of what is read later.
func beyond(down bool) string {
	if down {
		return "<"
	}
	return ">"
}

// continues adds the condition that a record comes behind the given place.
func (s *Store) continues(ctx context.Context, sel *selection, o viewOrder, from store.Place) error {
	n, err := s.recordNumber(ctx, sel.run, from.Cursor)
	if err != nil {
		return err
	}
	behind := place + " " + beyond(o.placeDown()) + " (?, ?, ?)"
	at := []any{from.Position, from.Trial, n}
	switch {
	case o.value == "":
		sel.and(behind, at...)
	case from.Value == nil && o.backward:
		sel.and("("+o.value+" IS NOT NULL OR "+behind+")", at...)
	case from.Value == nil:
		sel.and("("+o.value+" IS NULL AND "+behind+")", at...)
	default:
		term := "(" + o.value + " " + beyond(o.down != o.backward) + " ? OR " + o.value + " = ? AND " + behind
		if !o.backward {
			term += " OR " + o.value + " IS NULL"
		}
		sel.and(term+")", append([]any{*from.Value, *from.Value}, at...)...)
	}
	return nil
}

// recordNumber returns the number of the record at a place. If there is none, the place
// is behind all that claim its position.
func (s *Store) recordNumber(ctx context.Context, run int64, at store.Cursor) (int64, error) {
	var n int64
	err := s.query.find.QueryRowContext(ctx, run, text(at.ID), at.Trial).Scan(&n, new(bool))
	if errors.Is(err, sql.ErrNoRows) {
		return math.MaxInt64, nil
	}
	return n, err
}

// Count implements [store.Browser].
func (s *Store) Count(ctx context.Context, runID string, v store.View) (store.Counts, error) {
	if err := v.Check(); err != nil {
		return store.Counts{}, err
	}
	counts, err := s.count(ctx, runID, v)
	return counts, s.explain("count records in", err)
}

// Signs that nobody uses in a name stand between what is counted.
const (
	afterRecord   = "\x1e"
	beforeLabel   = "\x1f"
	beforeFailure = "\x1d"
)

// countQuery returns the query for what is counted of all records in one text: the
// category and the label, or the category and the kind. To hand 100,000 rows out one by
// one takes twice as long as to walk over them, and to have SQLite group them, which
// sorts them, five times.
func countQuery(where selection) string {
	return fmt.Sprintf(`SELECT count(*), coalesce(group_concat(r.category || coalesce('%s' || r.label, '%s' || r.kind), '%s'), '')
		FROM records r INDEXED BY %s WHERE %s`, beforeLabel, beforeFailure, afterRecord, where.index, strings.Join(where.terms, " AND "))
}

func (s *Store) count(ctx context.Context, runID string, v store.View) (store.Counts, error) {
	where, err := s.selects(ctx, runID, v)
	if err != nil || where.nothing {
		return newTally().counts(), err
	}
	var n int
	var said string
	if err := s.read.QueryRowContext(ctx, countQuery(where), where.args...).Scan(&n, &said); err != nil {
		return store.Counts{}, err
	}
	if t := newTally(); t.read(said, n) {
		return t.counts(), nil
	}
	return s.countGroups(ctx, where)
}

// countGroups counts in a run with names that have our signs in them after all.
func (s *Store) countGroups(ctx context.Context, where selection) (store.Counts, error) {
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT r.category, coalesce(r.label, r.kind), r.kind IS NOT NULL, count(*)
		FROM records r INDEXED BY %s WHERE %s GROUP BY 1, 2, 3`, where.index, strings.Join(where.terms, " AND ")), where.args...)
	if err != nil {
		return store.Counts{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	t := newTally()
	for rows.Next() {
		var category, name string
		var failed bool
		var n int
		if err := rows.Scan(&category, &name, &failed, &n); err != nil {
			return store.Counts{}, err
		}
		t.add(category, name, failed, n)
	}
	return t.counts(), rows.Err()
}

// A tally counts what records say.
type tally struct {
	total, unjudged           int
	categories, labels, kinds map[string]int
}

func newTally() *tally {
	return &tally{categories: map[string]int{}, labels: map[string]int{}, kinds: map[string]int{}}
}

// read counts what countQuery returned for n records. It returns false if names have
// signs in them: then there are more parts than records, or a part has more signs than
// one.
func (t *tally) read(said string, n int) bool {
	if n == 0 {
		return true
	}
	// Few records are unlike all others, so what they say is taken apart only once.
	alike := map[string]int{}
	for part := range strings.SplitSeq(said, afterRecord) {
		alike[part]++
		n--
	}
	for part, count := range alike {
		at := strings.IndexAny(part, beforeLabel+beforeFailure)
		if at < 0 || at != strings.LastIndexAny(part, beforeLabel+beforeFailure) {
			return false
		}
		t.add(part[:at], part[at+1:], part[at:at+1] == beforeFailure, count)
	}
	return n == 0
}

// add counts n records that say the same.
func (t *tally) add(category, name string, failed bool, n int) {
	t.total += n
	t.categories[category] += n
	if failed {
		t.unjudged += n
		t.kinds[name] += n
	} else {
		t.labels[name] += n
	}
}

func (t *tally) counts() store.Counts {
	return store.Counts{
		Total: t.total, Unjudged: t.unjudged,
		Categories: ranked(t.categories), Labels: ranked(t.labels), Kinds: ranked(t.kinds),
	}
}

// ranked returns counts, the largest first.
func ranked(counts map[string]int) []store.Count {
	list := make([]store.Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, store.Count{Name: strings.Clone(name), N: n})
	}
	slices.SortFunc(list, func(a, b store.Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	return list
}
