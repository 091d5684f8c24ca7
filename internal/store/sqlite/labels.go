package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"deem/internal/store"
)

var _ store.Labels = (*Store)(nil)

// PutLabels implements [store.Labels].
func (s *Store) PutLabels(ctx context.Context, list []store.Label) error {
	for _, l := range list {
		if err := store.CheckLabel(l); err != nil {
			return s.explain("write labels to", err)
		}
	}
	err := s.transact(ctx, func(ctx context.Context, w *writer) error {
		put, err := w.conn.PrepareContext(ctx, `INSERT INTO labels
			(item, item_id, dataset, annotator, yes, label, score, note, labelled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (item, annotator) DO UPDATE SET item_id = excluded.item_id, dataset = excluded.dataset,
			yes = excluded.yes, label = excluded.label, score = excluded.score, note = excluded.note, labelled = excluded.labelled`)
		if err != nil {
			return err
		}
		defer put.Close() //nolint:errcheck // Nothing is lost with it.
		for _, l := range list {
			_, err := put.ExecContext(ctx, text(l.Item), text(l.ID), text(l.Dataset), text(l.Annotator),
				l.Yes, text(l.Label), l.Score, text(l.Note), nanos(l.Labelled))
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("write labels to", err)
}

// DropLabel implements [store.Labels].
func (s *Store) DropLabel(ctx context.Context, item, annotator string) error {
	err := s.transact(ctx, func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM labels WHERE item = ? AND annotator = ?`, text(item), text(annotator))
		return err
	})
	return s.explain("write labels to", err)
}

// ReadOnly reports whether the store was opened for reading only, so that nothing can
// be labelled in it.
func (s *Store) ReadOnly() bool { return s.write == nil }

// Labels implements [store.Labels].
func (s *Store) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	return func(yield func(store.Label, error) bool) {
		after := store.Label{}
		for {
			page, err := s.labelPage(ctx, q, after)
			if err != nil {
				yield(store.Label{}, s.explain("read labels of", err))
				return
			}
			// No row is held while the caller has the label.
			for _, l := range page {
				if !yield(l, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
			after = page[len(page)-1]
		}
	}
}

// labelPage returns the first labels behind the given one.
func (s *Store) labelPage(ctx context.Context, q store.LabelQuery, after store.Label) ([]store.Label, error) {
	where, args, err := labelConditions(q)
	if err != nil {
		return nil, err
	}
	// No label has an item without a hash, so that the zero label is before all.
	args = append(args, after.ID, after.Item, after.Annotator, pageRows)
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT item, item_id, dataset, annotator, yes, label, score, note, labelled
		FROM labels WHERE %s AND (item_id, item, annotator) > (?, ?, ?)
		ORDER BY item_id, item, annotator LIMIT ?`, where), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	var page []store.Label
	for rows.Next() {
		var l store.Label
		var labelled sql.NullInt64
		err := rows.Scan(&l.Item, &l.ID, &l.Dataset, &l.Annotator, &l.Yes, &l.Label, &l.Score, &l.Note, &labelled)
		if err != nil {
			return nil, err
		}
		if labelled.Valid {
			l.Labelled = time.Unix(0, labelled.Int64).UTC()
		}
		page = append(page, l)
	}
	return page, rows.Err()
}

// labelConditions returns the WHERE clause of a query.
func labelConditions(q store.LabelQuery) (where string, args []any, err error) {
	terms := []string{"1"}
	if q.Dataset != "" {
		terms, args = append(terms, "dataset = ?"), append(args, text(q.Dataset))
	}
	for _, in := range []struct {
		column string
		values []string
	}{{"annotator", q.Annotators}, {"item_id", q.IDs}} {
		if len(in.values) == 0 {
			continue
		}
		list, err := json.Marshal(in.values)
		if err != nil {
			return "", nil, err
		}
		terms = append(terms, in.column+" IN (SELECT value FROM json_each(?))")
		args = append(args, string(list))
	}
	return strings.Join(terms, " AND "), args, nil
}
