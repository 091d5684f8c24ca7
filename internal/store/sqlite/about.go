package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"deem/internal/store"
)

// Edit implements [store.Editor].
func (s *Store) Edit(ctx context.Context, runID string, change func(*store.About)) (store.Run, error) {
	run, err := anyRun(s.read.QueryRowContext(ctx, runByID, runID), runID)
	if err != nil {
		return store.Run{}, s.explain("edit a run in", err)
	}
	if next := run.About; run.About.Deleted.IsZero() {
		if change(&next); !next.Deleted.IsZero() {
			c, err := s.claimKey(run.Key())
			if err != nil {
				return store.Run{}, err
			}
			defer c.release() //nolint:errcheck // Only this call holds the claim.
		}
	}
	err = s.transact(ctx, "edit a run in", func(ctx context.Context, w *writer) error {
		if run, err = anyRun(w.conn.QueryRowContext(ctx, runByID, runID), runID); err != nil {
			return err
		}
		change(&run.About)
		run.About = run.About.Clean()
		about, err := store.EncodeJSON(run.About)
		if err != nil {
			return err
		}
		_, err = w.conn.ExecContext(ctx, `UPDATE runs SET about = ?, deleted = ? WHERE id = ?`, about, store.Nanos(run.About.Deleted), runID)
		return err
	})
	return run, err
}

// anyRun returns the run of a row of selectRun, deleted or not.
func anyRun(row *sql.Row, runID string) (store.Run, error) {
	run, err := scanRun(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.NotFound(runID)
	}
	return run, err
}

// Deleted implements [store.Editor].
func (s *Store) Deleted(ctx context.Context) iter.Seq2[store.Run, error] {
	return s.runsWhere(ctx, "deleted IS NOT NULL")
}

// Purge implements [store.Editor].
func (s *Store) Purge(ctx context.Context, runID string) error {
	err := s.transact(ctx, "purge a run of", func(ctx context.Context, w *writer) error {
		run, err := anyRun(w.conn.QueryRowContext(ctx, runByID, runID), runID)
		if err != nil {
			return err
		}
		if run.About.Deleted.IsZero() {
			return store.NotDeleted(runID)
		}
		for _, statement := range []string{
			`DELETE FROM calls WHERE record IN (SELECT r.n FROM records r JOIN runs ON runs.n = r.run WHERE runs.id = ?)`,
			`DELETE FROM records WHERE run = (SELECT n FROM runs WHERE id = ?)`,
			`DELETE FROM batch_lines WHERE run = (SELECT n FROM runs WHERE id = ?)`,
			`DELETE FROM batches WHERE run = (SELECT n FROM runs WHERE id = ?)`,
			`DELETE FROM money WHERE run = (SELECT n FROM runs WHERE id = ?)`,
			`DELETE FROM runs WHERE id = ?`,
		} {
			if _, err := w.conn.ExecContext(ctx, statement, runID); err != nil {
				return err
			}
		}
		return nil
	})
	s.numbers.Delete(runID)
	return err
}
