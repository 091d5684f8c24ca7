package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"deem/internal/money"
)

// setAside is the money of a run that no record shows.
const setAside = `(SELECT max(0, coalesce(sum(spent + reserved), 0)) FROM money WHERE money.run = runs.n)`

// Demand implements [store.Money].
func (s *Store) Demand(ctx context.Context, runID, holder string, d money.Demand) (b money.Balance, err error) {
	err = s.transactRun(ctx, "reserve money in", runID, func(ctx context.Context, w *writer, run int64) error {
		err := w.conn.QueryRowContext(ctx, `UPDATE runs SET max_micros = ?2, factor = max(factor, ?3) WHERE n = ?1 RETURNING factor, cost_micros
			+ (SELECT coalesce(sum(cost_micros), 0) FROM batch_lines WHERE run = ?1 AND NOT taken),
			(SELECT coalesce(sum(spent + CASE WHEN holder = ?4 THEN 0 ELSE reserved END), 0) FROM money WHERE run = ?1),
			EXISTS (SELECT 1 FROM money WHERE run = ?1 AND holder <> ?4 AND reserved > 0)`, run, d.Limit, d.Factor, holder).
			Scan(&b.Factor, &b.Recorded, &b.Counted, &b.Others)
		if err != nil {
			return err
		}
		b.Counted += b.Recorded + d.Spent
		b.Grant(d)
		_, err = w.conn.ExecContext(ctx, `INSERT INTO money (run, holder, spent, reserved) VALUES (?, ?, ?, ?)
			ON CONFLICT (run, holder) DO UPDATE SET spent = spent + excluded.spent, reserved = excluded.reserved`,
			run, holder, d.Spent, d.Reserved+b.Granted)
		return err
	})
	if err == nil {
		s.holders.Store(runID, holder)
	}
	return b, err
}

// Leave implements [store.Money].
func (s *Store) Leave(ctx context.Context, runID, holder string) error {
	err := s.transactRun(ctx, "return money to", runID, func(ctx context.Context, w *writer, run int64) error {
		return leave(ctx, w.conn, run, holder)
	})
	if err == nil {
		s.holders.CompareAndDelete(runID, holder)
	}
	return err
}

// leave counts what a holder reserved as spent by nobody.
func leave(ctx context.Context, conn *sql.Conn, run int64, holder string) error {
	_, err := conn.ExecContext(ctx, `INSERT INTO money (run, holder, spent, reserved)
		SELECT run, '', spent + reserved, 0 FROM money WHERE run = ? AND holder = ?
		ON CONFLICT (run, holder) DO UPDATE SET spent = spent + excluded.spent`, run, holder)
	if err == nil {
		_, err = conn.ExecContext(ctx, `DELETE FROM money WHERE run = ? AND holder = ?`, run, holder)
	}
	return err
}

// Settle implements [store.Money].
func (s *Store) Settle(ctx context.Context, runID string) (released int64, err error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	c, err := s.claimKey(run.Key())
	if err != nil {
		return 0, err
	}
	err = s.transact(ctx, "settle the money of a run in", func(ctx context.Context, w *writer) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM money WHERE run = (SELECT n FROM runs WHERE id = ?)`, run.ID)
		return err
	})
	return run.SetAsideMicros, errors.Join(err, c.release())
}
