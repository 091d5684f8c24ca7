package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The pauses between two tries. They are drawn from the upper half, so that a fleet
// that lost its server does not come back as one.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = 2 * time.Second
)

// retry does something that can be done again until it succeeds, fails in a way that
// does not pass, or the time that [Options.Wait] gives is over.
func (s *Store) retry(ctx context.Context, do func(context.Context) error) error {
	return s.retryIf(ctx, passing, do)
}

// retryStart is retry for the first that is done with a server: one that cannot be
// reached then is more likely misspelt than restarting.
func (s *Store) retryStart(ctx context.Context, do func(context.Context) error) error {
	return s.retryIf(ctx, starting, do)
}

func (s *Store) retryIf(ctx context.Context, again func(error) bool, do func(context.Context) error) error {
	deadline := time.Now().Add(s.opts.Wait)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := do(ctx)
		wait := pause/2 + draw(pause/2)
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

// draw returns a random duration below most.
func draw(most time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(most)))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}

// addCommit is the first statement of a commit that happens once.
const addCommit = `INSERT INTO commits (id, at) VALUES ($1, $2)`

// isDone reports whether a commit was refused because it happened already.
func isDone(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.ConstraintName == "commits_once"
}

// newCommit returns the id of a commit.
func newCommit() []byte {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // It never fails.
	return id
}

// once sends statements to the server that commit together, and that do so once: when
// the connection breaks before the server has said that they are committed, they are
// sent again under the same id, and if the server knows the id they were.
//
// A try that the server has not finished yet, because the connection broke and nobody
// told it, is waited for by the id being unique; one that it has not even begun finds
// the id taken.
func (s *Store) once(ctx context.Context, queue func(b *pgx.Batch)) error {
	if s.readOnly {
		return errReadOnly
	}
	id := newCommit()
	return s.retry(ctx, func(ctx context.Context) error {
		b := &pgx.Batch{}
		b.Queue(addCommit, id, s.opts.Now().UnixNano())
		queue(b)
		// What is on its way is not called back: it takes milliseconds, and whether it
		// was committed would be unknown.
		err := s.pool.SendBatch(context.WithoutCancel(ctx), b).Close()
		if isDone(err) {
			return nil
		}
		return err
	})
}

// transact is once for work that has to see what it finds. When an earlier try was
// committed and only its acknowledgement was lost, do is not called again: what it left
// behind is that of the try that counts.
func (s *Store) transact(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	if s.readOnly {
		return errReadOnly
	}
	id := newCommit()
	return s.retry(ctx, func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx)
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, addCommit, id, s.opts.Now().UnixNano()); err != nil {
				return err
			}
			return do(ctx, tx)
		})
		if isDone(err) {
			return nil
		}
		return err
	})
}

// forget removes the ids of commits that nobody can be in doubt of any more.
func (s *Store) forget(ctx context.Context) error {
	return s.retryStart(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM commits WHERE at < $1`, s.opts.Now().Add(-24*time.Hour).UnixNano())
		return err
	})
}
