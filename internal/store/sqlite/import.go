package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"deem"
	"deem/internal/store"
)

var (
	_ store.Importer    = (*Store)(nil)
	_ store.BatchLister = (*Store)(nil)
)

// Import implements [store.Importer].
func (s *Store) Import(ctx context.Context, run store.Run) (added bool, err error) {
	spec, err := run.Clean()
	if err != nil {
		return false, err
	}
	run.Spec = spec
	err = s.transact(ctx, func(ctx context.Context, w *writer) error {
		n, err := addRun(ctx, w.conn, run)
		added = n != 0
		return err
	})
	return added, s.explain("import a run into", err)
}

// PutReplies implements [store.Importer].
func (s *Store) PutReplies(ctx context.Context, list []deem.Reply) error {
	err := s.transact(ctx, func(ctx context.Context, w *writer) error {
		a, err := newAppender(ctx, w, 0)
		for i := 0; i < len(list) && err == nil; i++ {
			var said string
			if said, err = store.EncodeReply(list[i]); err == nil {
				_, err = a.addReply(ctx, &list[i], said)
			}
		}
		return err
	})
	s.filter.expire()
	return s.explain("import replies into", err)
}

// Imported implements [store.Importer].
func (s *Store) Imported(ctx context.Context, run store.Run) error {
	err := s.transact(ctx, func(ctx context.Context, w *writer) error {
		res, err := w.conn.ExecContext(ctx, `UPDATE runs SET state = ?, updated = ?, unsettled_micros = ? WHERE id = ?`,
			string(run.State), run.Updated.UnixNano(), run.SetAsideMicros, run.ID)
		if err != nil {
			return err
		}
		if found, err := res.RowsAffected(); err != nil || found == 0 {
			return errors.Join(err, store.NotFound(run.ID))
		}
		return nil
	})
	return s.explain("import a run into", err)
}

// BatchLines implements [store.BatchLister].
func (s *Store) BatchLines(ctx context.Context, runID, batch string) iter.Seq2[store.BatchLine, error] {
	return func(yield func(store.BatchLine, error) bool) {
		for key, err := range store.Pages(pageRows, func(last string) ([]string, error) {
			return s.lineKeys(ctx, runID, batch, last)
		}) {
			if err != nil {
				yield(store.BatchLine{}, s.explain("read", err))
				return
			}
			l, ok, err := s.BatchLine(ctx, runID, key)
			if err == nil && !ok {
				continue // It was dropped meanwhile.
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// lineKeys returns the keys of the first lines of a batch after the given one.
func (s *Store) lineKeys(ctx context.Context, runID, batch, after string) (keys []string, err error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, `SELECT l.key FROM batches b JOIN batch_lines l ON l.batch = b.n
		WHERE b.run = ? AND b.key = ? AND l.key > ? ORDER BY l.key LIMIT ?`, run, text(batch), after, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	for rows.Next() {
		var key sql.NullString
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key.String)
	}
	return keys, rows.Err()
}
