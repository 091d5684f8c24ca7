package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	random "math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"deem/internal/store"
)

// The pauses between two attempts. They are drawn from the upper half, so that a fleet that
// lost its server does not reconnect all at once.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = 2 * time.Second
)

// retry calls do, which must be repeatable, until it succeeds, fails with an error that is
// not transient, or [Options.Wait] is over.
func (s *Store) retry(ctx context.Context, do func(context.Context) error) error {
	return s.retryIf(ctx, passing, do)
}

// collect returns what scan reads from each row of a query.
func collect[T any](ctx context.Context, s *Store, scan func(row pgx.Row) (T, error), query string, args ...any) (list []T, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.AppendRows([]T(nil), rows, func(row pgx.CollectableRow) (T, error) { return scan(row) })
		return err
	})
	return list, err
}

// retryIf is retry for other errors.
func (s *Store) retryIf(ctx context.Context, again func(error) bool, do func(context.Context) error) error {
	deadline := time.Now().Add(s.opts.Wait)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := do(ctx)
		wait := pause/2 + random.N(pause/2) //nolint:gosec // It need not be secret.
		if !again(err) || time.Now().Add(wait).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// addCommit is the first statement of a commit that must happen only once.
const addCommit = `INSERT INTO commits (id, at) VALUES ($1, $2)`

// once sends statements to the server that commit together, exactly once: if the connection
// breaks before the server has acknowledged the commit, they are sent again under the same
// id, and if the server knows the id, the first attempt was committed.
//
// If an attempt is still running on the server because it has not noticed the broken
// connection, the unique id makes the next attempt wait for it; if it has not even begun,
// it will find the id taken.
func (s *Store) once(ctx context.Context, doing string, queue func(b *pgx.Batch)) error {
	return s.commit(ctx, doing, func(ctx context.Context, id []byte) error {
		b := &pgx.Batch{}
		b.Queue(addCommit, id, s.opts.Now().UnixNano())
		queue(b)
		return s.pool.SendBatch(ctx, b).Close()
	})
}

// transact is once for work that depends on query results. If an earlier attempt was
// committed and only its acknowledgement was lost, do is not called again: the results are
// those of that attempt.
func (s *Store) transact(ctx context.Context, doing string, do func(ctx context.Context, tx pgx.Tx) error) error {
	return s.commit(ctx, doing, func(ctx context.Context, id []byte) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, addCommit, id, s.opts.Now().UnixNano()); err != nil {
				return err
			}
			return do(ctx, tx)
		})
	})
}

// transactRun is [Store.transact] for a change of a run; do gets its number.
func (s *Store) transactRun(ctx context.Context, doing, runID string, do func(ctx context.Context, tx pgx.Tx, run int64) error) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return s.explain(doing, err)
	}
	return s.transact(ctx, doing, func(ctx context.Context, tx pgx.Tx) error { return do(ctx, tx, run) })
}

// commit calls send, which commits under the id, until it is known to be committed. It
// explains the error.
//
// Statements in flight are not cancelled: they take milliseconds, and it would be unknown
// whether they were committed.
func (s *Store) commit(ctx context.Context, doing string, send func(ctx context.Context, id []byte) error) error {
	if s.readOnly {
		return s.explain(doing, store.ErrReadOnly)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // It never fails.
	err := s.retry(ctx, func(ctx context.Context) error {
		err := send(context.WithoutCancel(ctx), id)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.ConstraintName == "commits_once" {
			return nil // An earlier attempt was committed.
		}
		return err
	})
	return s.explain(doing, err)
}

// forget removes the ids of commits that can no longer be in doubt.
func (s *Store) forget(ctx context.Context) error {
	return s.retryIf(ctx, starting, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM commits WHERE at < $1`, s.opts.Now().Add(-24*time.Hour).UnixNano())
		return err
	})
}
