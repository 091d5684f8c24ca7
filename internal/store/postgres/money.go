package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"deem/internal/money"
)

// setAside is the money of run r that no record shows.
const setAside = `(SELECT greatest(0, coalesce(sum(m.spent + m.reserved), 0))::bigint FROM money m WHERE m.run = r.n)`

// Demand implements [store.Money]. Holders of a run are serialized by a lock on its row. One
// statement reads everything that counts: an append moves costs from one table to another.
func (s *Store) Demand(ctx context.Context, runID, holder string, d money.Demand) (b money.Balance, err error) {
	err = s.transactRun(ctx, "reserve money in", runID, func(ctx context.Context, tx pgx.Tx, run int64) error {
		if err := lockMoney(ctx, tx, run); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `UPDATE runs SET max_micros = $2, factor = greatest(factor, $3) WHERE n = $1 RETURNING factor,
			((SELECT coalesce(sum(cost_micros), 0) FROM counts WHERE run = $1)
			+ (SELECT coalesce(sum(cost_micros), 0) FROM batch_lines WHERE run = $1 AND NOT taken))::bigint,
			(SELECT coalesce(sum(spent + CASE WHEN holder = $4 THEN 0 ELSE reserved END), 0)::bigint FROM money WHERE run = $1),
			EXISTS (SELECT FROM money WHERE run = $1 AND holder <> $4 AND reserved > 0)`, run, d.Limit, d.Factor, pack(holder)).
			Scan(&b.Factor, &b.Recorded, &b.Counted, &b.Others)
		if err != nil {
			return err
		}
		b.Counted += b.Recorded + d.Spent
		b.Grant(d)
		_, err = tx.Exec(ctx, `INSERT INTO money AS m (run, holder, spent, reserved) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run, holder) DO UPDATE SET spent = m.spent + excluded.spent, reserved = excluded.reserved`,
			run, pack(holder), d.Spent, d.Reserved+b.Granted)
		return err
	})
	if err == nil {
		s.holders.Store(runID, holder)
	}
	return b, err
}

// Leave implements [store.Money].
func (s *Store) Leave(ctx context.Context, runID, holder string) error {
	err := s.transactRun(ctx, "return money to", runID, func(ctx context.Context, tx pgx.Tx, run int64) error {
		return leave(ctx, tx, run, holder)
	})
	if err == nil {
		s.holders.CompareAndDelete(runID, holder)
	}
	return err
}

// LeaveTx is [Store.Leave] in the caller's transaction, for a holder in another process.
func (s *Store) LeaveTx(ctx context.Context, tx pgx.Tx, runID, holder string) error {
	run, err := s.numberIn(ctx, tx, runID)
	if err == nil {
		err = leave(ctx, tx, run, holder)
	}
	return s.explain("count the money of a holder in", err)
}

// lockMoney waits until no other transaction changes the money of a run.
func lockMoney(ctx context.Context, tx pgx.Tx, run int64) error {
	_, err := tx.Exec(ctx, `SELECT FROM runs WHERE n = $1 FOR NO KEY UPDATE`, run)
	return err
}

// leave counts what a holder reserved as spent by nobody.
func leave(ctx context.Context, tx pgx.Tx, run int64, holder string) error {
	if err := lockMoney(ctx, tx, run); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `WITH gone AS (DELETE FROM money WHERE run = $1 AND holder = $2 RETURNING run, spent + reserved AS sum)
		INSERT INTO money AS m (run, holder, spent, reserved) SELECT run, '', sum, 0 FROM gone
		ON CONFLICT (run, holder) DO UPDATE SET spent = m.spent + excluded.spent`, run, pack(holder))
	return err
}

// Settle implements [store.Money]. Workers do not claim runs: the caller must know whether
// one of them is working.
func (s *Store) Settle(ctx context.Context, runID string) (released int64, err error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	c, err := s.claims.take(ctx, run.Key())
	if err != nil {
		return 0, err
	}
	err = s.once(ctx, "settle the money of a run in", func(b *pgx.Batch) {
		b.Queue(`DELETE FROM money WHERE run = (SELECT n FROM runs WHERE id = $1)`, pack(run.ID))
	})
	return run.SetAsideMicros, errors.Join(err, s.claims.giveUp(c))
}
