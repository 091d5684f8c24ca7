package sqlite

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"deem/internal/store"
)

// PutLabels implements [store.Labels].
func (s *Store) PutLabels(ctx context.Context, list []store.Label) error {
	for _, l := range list {
		if err := store.CheckLabel(l); err != nil {
			return s.explain("write labels to", err)
		}
	}
	return s.transact(ctx, "write labels to", func(ctx context.Context, w *writer) error {
		put, err := w.conn.PrepareContext(ctx, `INSERT INTO labels
			(item, item_id, dataset, annotator, yes, label, score, note, drawn, labelled, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (item, annotator) DO UPDATE SET item_id = excluded.item_id, dataset = excluded.dataset,
			yes = excluded.yes, label = excluded.label, score = excluded.score, note = excluded.note, drawn = excluded.drawn, labelled = excluded.labelled, sum = excluded.sum`)
		if err != nil {
			return err
		}
		defer put.Close() //nolint:errcheck // Losing it does no harm.
		for _, l := range list {
			c := []any{text(l.Item), text(l.ID), text(l.Dataset), text(l.Annotator), l.Yes, text(l.Label), l.Score, text(l.Note), text(l.Drawn), store.Null(store.Nanos(l.Labelled))}
			if _, err := put.ExecContext(ctx, append(c, store.Seal(c))...); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropLabel implements [store.Labels].
func (s *Store) DropLabel(ctx context.Context, item, annotator string) error {
	return s.transact(ctx, "write labels to", func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM labels WHERE item = ? AND annotator = ?`, text(item), text(annotator))
		return err
	})
}

// Labels implements [store.Labels].
func (s *Store) Labels(ctx context.Context, q store.LabelQuery) iter.Seq2[store.Label, error] {
	var where conditions
	if q.Dataset != "" {
		where.and("dataset = ?", text(q.Dataset))
	}
	where.oneOf("annotator", q.Annotators)
	where.oneOf("item_id", q.IDs)
	// Every label has an item hash, so the zero label is before all.
	where.and("(item_id, item, annotator) > (?, ?, ?)")
	query := fmt.Sprintf(`SELECT item, item_id, dataset, annotator, yes, label, score, note, drawn, labelled, `+soundLabel+`
		FROM labels WHERE %s ORDER BY item_id, item, annotator LIMIT %d`, strings.Join(where.terms, " AND "), pageRows)
	return store.Pages(pageRows, func(last store.Label) ([]store.Label, error) {
		page, err := collect(ctx, s, scanLabel, query, slices.Concat(where.args, []any{last.ID, last.Item, last.Annotator})...)
		return page, s.explain("read labels of", err)
	})
}

func scanLabel(row scanner) (store.Label, error) {
	var l store.Label
	var labelled *int64
	var sound bool
	err := row.Scan(&l.Item, &l.ID, &l.Dataset, &l.Annotator, &l.Yes, &l.Label, &l.Score, &l.Note, &l.Drawn, &labelled, &sound)
	if err == nil && !sound {
		err = altered("the label of item %q", l.ID)
	}
	l.Labelled = store.TimeOf(labelled)
	return l, err
}
