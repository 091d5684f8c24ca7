package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"deem/internal/store"
)

// moneyLeft is the reserved money of a run: everything charged and held, minus the cost in
// records, and minus the cost of batch replies that no record has yet.
const moneyLeft = `max(0, charged_micros + (SELECT coalesce(sum(spent + lent), 0) FROM holdings h WHERE h.run = runs.n) - cost_micros
	- (SELECT coalesce(sum(cost_micros), 0) FROM batch_lines l WHERE l.run = runs.n AND NOT l.taken))`

// setAside is a column of selectRun.
const setAside = `CASE WHEN charged_micros IS NULL THEN unsettled_micros ELSE ` + moneyLeft + ` END`

// Draw implements [store.Money].
func (s *Store) Draw(ctx context.Context, runID string, d store.Draw) (b store.Balance, err error) {
	err = s.transactRun(ctx, "set money aside in", runID, func(ctx context.Context, w *writer, run int64) error {
		var others int64
		err := w.conn.QueryRowContext(ctx, `UPDATE runs SET charged_micros = coalesce(charged_micros, cost_micros + unsettled_micros) WHERE n = ?1
			RETURNING cost_micros, charged_micros, (SELECT coalesce(sum(spent + lent), 0) FROM holdings WHERE run = ?1 AND holder <> ?2),
			EXISTS (SELECT 1 FROM holdings WHERE run = ?1 AND holder <> ?2 AND lent > 0)`, run, text(d.Holder)).
			Scan(&b.Recorded, &b.Counted, &others, &b.Others)
		if err != nil {
			return err
		}
		b.Lend(d, others)
		_, err = w.conn.ExecContext(ctx, `INSERT INTO holdings (run, holder, spent, lent) VALUES (?, ?, ?, ?)
			ON CONFLICT (run, holder) DO UPDATE SET spent = excluded.spent, lent = excluded.lent`,
			run, text(d.Holder), d.Spent, d.Lent+b.Got)
		return err
	})
	return b, err
}

// Leave implements [store.Money].
func (s *Store) Leave(ctx context.Context, runID, holder string, spent int64) error {
	return s.transactRun(ctx, "give money back to", runID, func(ctx context.Context, w *writer, run int64) error {
		_, err := w.conn.ExecContext(ctx, `UPDATE holdings SET spent = ?, lent = 0 WHERE run = ? AND holder = ?`, spent, run, text(holder))
		return errors.Join(err, forfeit(ctx, w.conn, run, holder))
	})
}

// forfeit counts all money of a holder as charged. When no holder is left, what records do
// not show stays reserved.
func forfeit(ctx context.Context, conn *sql.Conn, run int64, holder string) error {
	for _, statement := range []string{
		`UPDATE runs SET charged_micros = charged_micros + coalesce((SELECT spent + lent FROM holdings WHERE run = ?1 AND holder = ?2), 0) WHERE n = ?1`,
		`DELETE FROM holdings WHERE run = ?1 AND holder = ?2`,
		`UPDATE runs SET unsettled_micros = ` + moneyLeft + `, charged_micros = NULL
			WHERE n = ?1 AND charged_micros IS NOT NULL AND NOT EXISTS (SELECT 1 FROM holdings WHERE run = ?1)`,
	} {
		if _, err := conn.ExecContext(ctx, statement, run, text(holder)); err != nil {
			return err
		}
	}
	return nil
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
		_, err := w.conn.ExecContext(ctx, `DELETE FROM holdings WHERE run = (SELECT n FROM runs WHERE id = ?)`, run.ID)
		if err != nil {
			return err
		}
		_, err = w.conn.ExecContext(ctx, `UPDATE runs SET unsettled_micros = 0, charged_micros = NULL WHERE id = ?`, run.ID)
		return err
	})
	return run.SetAsideMicros, errors.Join(err, c.release())
}
