package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

// Edit implements [store.Editor].
func (s *Store) Edit(ctx context.Context, runID string, change func(*store.About)) (run store.Run, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		run, err = anyRun(ctx, s.pool, runID, "")
		return err
	})
	if err != nil {
		return store.Run{}, s.explain("edit a run in", err)
	}
	if next := run.About; run.About.Deleted.IsZero() {
		if change(&next); !next.Deleted.IsZero() {
			c, err := s.claims.take(ctx, run.Key())
			if errors.Is(err, store.ErrBusy) {
				return store.Run{}, err
			} else if err != nil {
				return store.Run{}, s.explain("edit a run in", err)
			}
			defer s.claims.giveUp(c) //nolint:errcheck // Only this call holds the claim.
		}
	}
	err = s.transact(ctx, "edit a run in", func(ctx context.Context, tx pgx.Tx) error {
		if run, err = anyRun(ctx, tx, runID, " FOR UPDATE OF r"); err != nil {
			return err
		}
		change(&run.About)
		run.About = run.About.Clean()
		about, err := store.EncodeJSON(run.About)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE runs SET about = $2, deleted = $3 WHERE id = $1`, pack(runID), about, store.Nanos(run.About.Deleted))
		return err
	})
	return run, err
}

// anyRun returns the run with an id, deleted or not.
func anyRun(ctx context.Context, q querier, runID, lock string) (store.Run, error) {
	run, err := scanRun(q.QueryRow(ctx, selectRun+` WHERE r.id = $1`+lock, pack(runID)))
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.NotFound(runID)
	}
	return run, err
}

// Deleted implements [store.Editor].
func (s *Store) Deleted(ctx context.Context) iter.Seq2[store.Run, error] {
	return s.runsWhere(ctx, "r.deleted IS NOT NULL")
}

// Purge implements [store.Editor].
func (s *Store) Purge(ctx context.Context, runID string) error {
	err := s.transact(ctx, "purge a run of", func(ctx context.Context, tx pgx.Tx) error {
		run, err := anyRun(ctx, tx, runID, " FOR UPDATE OF r")
		if err != nil {
			return err
		}
		if run.About.Deleted.IsZero() {
			return store.NotDeleted(runID)
		}
		for _, statement := range []string{
			`DELETE FROM calls WHERE record IN (SELECT r.n FROM records r JOIN runs ON runs.n = r.run WHERE runs.id = $1)`,
			`DELETE FROM records WHERE run = (SELECT n FROM runs WHERE id = $1)`,
			`DELETE FROM batch_lines WHERE run = (SELECT n FROM runs WHERE id = $1)`,
			`DELETE FROM batches WHERE run = (SELECT n FROM runs WHERE id = $1)`,
			`DELETE FROM money WHERE run = (SELECT n FROM runs WHERE id = $1)`,
			`DELETE FROM counts WHERE run = (SELECT n FROM runs WHERE id = $1)`,
			`DELETE FROM runs WHERE id = $1`,
		} {
			if _, err := tx.Exec(ctx, statement, pack(runID)); err != nil {
				return err
			}
		}
		return nil
	})
	s.numbers.Delete(runID)
	return err
}
