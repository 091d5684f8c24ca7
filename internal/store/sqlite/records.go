package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem"
	"deem/internal/store"
)

// A page of records or runs is read at once. It is limited in rows, and in bytes because
// some items may be very long.
const (
	pageRows  = 256
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

// eachRecord passes the records to yield until it returns false.
func (s *Store) eachRecord(ctx context.Context, runID string, q store.Query, yield func(deem.Record) bool) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return err
	}
	p, texts := newPager(s, run, q), newTextReader(s)
	if err := p.start(ctx, q.After); err != nil {
		return err
	}
	for !p.done {
		page, err := p.next(ctx)
		if err != nil {
			return err
		}
		// No row is held while the caller has the record, however long that takes.
		for i := range page {
			if err := texts.fill(ctx, &page[i]); err != nil {
				return err
			}
			if q.WithCalls && i%callsRows == 0 {
				if err := s.loadCalls(ctx, page[i:min(i+callsRows, len(page))]); err != nil {
					return err
				}
			}
			if !yield(page[i].rec) {
				return nil
			}
			page[i] = found{} // release the texts
		}
	}
	return nil
}

// found is a record that was read, and what is needed to read its long texts and its calls.
type found struct {
	rec    deem.Record
	item   string // a prefix of the hash of its item
	body   string // JSON of the item; "" if it is not wanted
	places string // JSON; "{}" if all texts are in the item
	calls  int    // number of calls
	n      int64
}

// A pager reads the records of a run page by page.
type pager struct {
	store.Walk
	s     *Store
	run   int64
	brief bool
	query string
	args  []any // of the conditions; those of the cursor follow
	done  bool
}

func newPager(s *Store, run int64, q store.Query) *pager {
	p := &pager{Walk: store.NewWalk(q.Limit), s: s, run: run, brief: q.Brief}
	where := newConditions(run, q)
	columns, join := "i.body, "+placesColumn, "JOIN items i ON i.n = r.item"
	if q.Brief {
		columns, join = "NULL, NULL", ""
	}
	p.query = fmt.Sprintf(`SELECT %s, %s FROM records r INDEXED BY %s %s WHERE %s AND (r.position, r.trial, r.n) > (?, ?, ?)
		ORDER BY r.position, r.trial, r.n LIMIT ?`, recordColumns, columns, bestIndex(q), join, strings.Join(where.terms, " AND "))
	p.args = where.args
	return p
}

// fewIDs is the maximum number of ids that are looked up one by one. More are found by
// scanning the run, because looked-up records must be sorted for every page.
const fewIDs = 64

// bestIndex returns the index along which the records of q are read. SQLite would choose by
// statistics that it does not have. In all indexes except that of the ids, the selected
// records are in order, so that the cost of a page is proportional to its size. Labels and
// categories have no index, because every append would have to maintain it: for them the
// run is scanned.
func bestIndex(q store.Query) string {
	switch {
	case len(q.IDs) > 0 && len(q.IDs) <= fewIDs:
		return "records_item"
	case q.Unjudged || len(q.Kinds) > 0:
		return "records_unjudged"
	default:
		return "records_position"
	}
}

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

// start moves the pager after a record seen before.
func (p *pager) start(ctx context.Context, after *store.Cursor) error {
	if after == nil {
		return nil
	}
	n, err := p.s.recordNumber(ctx, p.run, *after)
	p.Behind(after.Position, after.Trial, n)
	return err
}

// next returns the next page. After the last one it sets done.
func (p *pager) next(ctx context.Context) ([]found, error) {
	most := p.Rows(pageRows)
	rows, err := p.s.read.QueryContext(ctx, p.query, slices.Concat(p.args, p.Args(most))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	page := make([]found, 0, most)
	for size := 0; size < pageBytes && rows.Next(); {
		f, n, err := p.scan(rows)
		if err != nil {
			return nil, err
		}
		page, size = append(page, f), size+n
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(page) == 0 {
		p.done = true
		return nil, nil
	}
	last := page[len(page)-1]
	p.Behind(last.rec.Position, last.rec.Trial, last.n)
	p.done = p.Passed(len(page))
	return page, nil
}

// scan reads one record and returns its approximate size in bytes.
func (p *pager) scan(row scanner) (f found, size int, err error) {
	var v verdictColumns
	var item, places, hash sql.NullString
	var sound bool
	rec := &f.rec
	it := &rec.Item
	err = row.Scan(&f.n, &it.ID, &rec.Position, &rec.Trial, &it.Category, &it.Cluster, &it.Weight, &rec.Judge,
		&v.label, &v.score, &v.pass, &v.confidence, &v.reason, &v.parts, &v.kind, &v.detail, &f.calls, &hash, &sound, &item, &places)
	if err != nil {
		return found{}, 0, err
	}
	if !sound {
		return found{}, 0, altered("record %d, of item %q,", f.n, it.ID)
	}
	f.item, f.body, f.places = hash.String, item.String, places.String
	if !p.brief {
		if err := store.DecodeJSON(item.String, it); err != nil {
			return found{}, 0, fmt.Errorf("decode item %q: %w", it.ID, err)
		}
	}
	if err := v.fill(rec); err != nil {
		return found{}, 0, fmt.Errorf("decode verdict on item %q: %w", it.ID, err)
	}
	return f, len(item.String) + len(v.reason.String) + len(v.detail.String) + 256, nil
}

// verdictColumns are the columns of a verdict or a failure.
type verdictColumns struct {
	label, reason, parts, kind, detail sql.NullString
	score, confidence                  sql.NullFloat64
	pass                               sql.NullInt64
}

// fill sets the verdict or the failure of rec.
func (v *verdictColumns) fill(rec *deem.Record) error {
	if v.kind.Valid {
		rec.Failure = &deem.Failure{Kind: deem.Kind(v.kind.String), Detail: v.detail.String}
	} else {
		rec.Verdict = &deem.Verdict{Label: v.label.String, Score: v.score.Float64, Reason: v.reason.String}
		if v.pass.Valid {
			rec.Verdict.Pass = new(v.pass.Int64 != 0)
		}
		if v.confidence.Valid {
			rec.Verdict.Confidence = new(v.confidence.Float64)
		}
	}
	if !v.parts.Valid {
		return nil
	}
	return store.DecodeParts(v.parts.String, rec)
}
