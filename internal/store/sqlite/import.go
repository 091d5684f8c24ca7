package sqlite

import (
	"context"
	"iter"

	"deem"
	"deem/internal/store"
)

// Import implements [store.Database].
func (s *Store) Import(ctx context.Context, run store.Run) (added bool, err error) {
	if run.Spec, err = run.Clean(); err != nil {
		return false, err
	}
	err = s.transact(ctx, "import a run into", func(ctx context.Context, w *writer) error {
		n, err := addRun(ctx, w.conn, run)
		added = n != 0
		return err
	})
	return added, err
}

// PutReplies implements [store.Database].
func (s *Store) PutReplies(ctx context.Context, list []deem.Reply) error {
	err := s.transact(ctx, "import replies into", func(ctx context.Context, w *writer) error {
		a, err := newAppender(ctx, w, 0)
		for i := 0; i < len(list) && err == nil; i++ {
			var said string
			if said, err = store.EncodeReply(list[i]); err == nil {
				_, err = a.addReply(ctx, &list[i], said)
			}
		}
		return err
	})
	for _, r := range list {
		s.filter.add(text(r.Key))
	}
	return err
}

// Imported implements [store.Database].
func (s *Store) Imported(ctx context.Context, run store.Run) error {
	return s.transact(ctx, "import a run into", func(ctx context.Context, w *writer) error {
		found, err := wroteRow(w.conn.ExecContext(ctx, `UPDATE runs SET state = ?, updated = ?, max_micros = ?, factor = ? WHERE id = ?`,
			string(run.State), run.Updated.UnixNano(), run.MaxMicros, run.Factor, run.ID))
		if err == nil && !found {
			return store.NotFound(run.ID)
		}
		if err == nil && run.SetAsideMicros > 0 {
			_, err = w.conn.ExecContext(ctx, `INSERT INTO money (run, holder, spent, reserved) SELECT n, '', ?, 0 FROM runs WHERE id = ?
				ON CONFLICT (run, holder) DO UPDATE SET spent = excluded.spent`, run.SetAsideMicros, run.ID)
		}
		return err
	})
}

// BatchLines implements [store.Database].
func (s *Store) BatchLines(ctx context.Context, runID, batch string) iter.Seq2[store.BatchLine, error] {
	return store.Pages(pageRows, func(last store.BatchLine) ([]store.BatchLine, error) {
		run, err := s.number(ctx, runID)
		if err != nil {
			return nil, s.explain("read", err)
		}
		page, err := collect(ctx, s, scanLine,
			selectLine+` WHERE b.run = ? AND b.key = ? AND l.key > ? ORDER BY l.key LIMIT ?`, run, text(batch), last.Key, pageRows)
		return page, s.explain("read", err)
	})
}
