package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

// recorded is the cost of the records of run r.
const recorded = `(SELECT coalesce(sum(k.cost_micros), 0)::bigint FROM counts k WHERE k.run = r.n)`

// moneyLeft is the reserved money of run r: everything charged and held, minus the cost in
// records, and minus the cost of batch replies that no record has yet.
const moneyLeft = `greatest(0, r.charged_micros + (SELECT coalesce(sum(h.spent + h.lent), 0)::bigint FROM holdings h WHERE h.run = r.n) - ` + recorded + `
	- (SELECT coalesce(sum(l.cost_micros), 0)::bigint FROM batch_lines l WHERE l.run = r.n AND NOT l.taken))`

// Draw implements [store.Money]. Holders of a run are serialized by a lock on its row.
func (s *Store) Draw(ctx context.Context, runID string, d store.Draw) (b store.Balance, err error) {
	err = s.transactRun(ctx, "set money aside in", runID, func(ctx context.Context, tx pgx.Tx, run int64) error {
		if err := lockMoney(ctx, tx, run); err != nil {
			return err
		}
		var others int64
		err := tx.QueryRow(ctx, `UPDATE runs r SET charged_micros = coalesce(r.charged_micros, `+recorded+` + r.unsettled_micros) WHERE r.n = $1
			RETURNING `+recorded+`, charged_micros, (SELECT coalesce(sum(spent + lent), 0)::bigint FROM holdings WHERE run = $1 AND holder <> $2),
			EXISTS (SELECT FROM holdings WHERE run = $1 AND holder <> $2 AND lent > 0)`, run, pack(d.Holder)).
			Scan(&b.Recorded, &b.Counted, &others, &b.Others)
		if err != nil {
			return err
		}
		b.Lend(d, others)
		_, err = tx.Exec(ctx, `INSERT INTO holdings (run, holder, spent, lent) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run, holder) DO UPDATE SET spent = excluded.spent, lent = excluded.lent`,
			run, pack(d.Holder), d.Spent, d.Lent+b.Got)
		return err
	})
	return b, err
}

// Leave implements [store.Money].
func (s *Store) Leave(ctx context.Context, runID, holder string, spent int64) error {
	return s.transactRun(ctx, "give money back to", runID, func(ctx context.Context, tx pgx.Tx, run int64) error {
		if err := lockMoney(ctx, tx, run); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE holdings SET spent = $3, lent = 0 WHERE run = $1 AND holder = $2`, run, pack(holder), spent)
		return errors.Join(err, forfeit(ctx, tx, run, holder))
	})
}

// ForfeitTx counts all money of a holder in a run as spent, because it is unknown what it
// did with it. It runs in the caller's transaction.
func (s *Store) ForfeitTx(ctx context.Context, tx pgx.Tx, runID, holder string) error {
	run, err := s.numberIn(ctx, tx, runID)
	if err == nil {
		err = lockMoney(ctx, tx, run)
	}
	if err == nil {
		err = forfeit(ctx, tx, run, holder)
	}
	return s.explain("count the money of a holder in", err)
}

// lockMoney waits until no other transaction changes the money of a run.
func lockMoney(ctx context.Context, tx pgx.Tx, run int64) error {
	_, err := tx.Exec(ctx, `SELECT FROM runs WHERE n = $1 FOR NO KEY UPDATE`, run)
	return err
}

// forfeit counts all money of a holder as charged. When no holder is left, what records do
// not show stays reserved.
func forfeit(ctx context.Context, tx pgx.Tx, run int64, holder string) error {
	_, err := tx.Exec(ctx, `WITH gone AS (DELETE FROM holdings WHERE run = $1 AND holder = $2 RETURNING spent + lent AS sum)
		UPDATE runs r SET charged_micros = r.charged_micros + gone.sum FROM gone WHERE r.n = $1`, run, pack(holder))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE runs r SET unsettled_micros = `+moneyLeft+`, charged_micros = NULL
		WHERE r.n = $1 AND r.charged_micros IS NOT NULL AND NOT EXISTS (SELECT FROM holdings WHERE run = $1)`, run)
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
		b.Queue(`DELETE FROM holdings WHERE run = (SELECT n FROM runs WHERE id = $1)`, pack(run.ID))
		b.Queue(`UPDATE runs SET unsettled_micros = 0, charged_micros = NULL WHERE id = $1`, pack(run.ID))
	})
	return run.SetAsideMicros, errors.Join(err, s.claims.giveUp(c))
}
