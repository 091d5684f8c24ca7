package queue

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"deem/model"
)

// A bank lends the money of a run to this worker's purse. All that workers spent and were
// lent, and what was spent before, is never more than the run may cost. Each worker has a
// row of its own, which holds sums and no differences, so that to write it twice does no
// harm.
type bank struct {
	c           *Control
	run, worker string
	sum         int64
	purse       *model.Purse

	mu      sync.Mutex // held while the row is written
	granted int64      // in all, without what was given back
	last    int64      // what was granted last
	free    int64      // what was left for all then
	closed  bool
}

var _ model.Bank = (*bank)(nil)

func (c *Control) newBank(run, worker string, sum int64) *bank {
	b := &bank{c: c, run: run, worker: worker, sum: sum}
	b.purse = model.NewLentPurse(b)
	return b
}

const (
	// drawEvery is how long to wait for money that others may give back.
	drawEvery = 250 * time.Millisecond

	// ahead is how many calls like the one that needs money it is lent for, at most a
	// quarter of what is there.
	ahead = 20
)

// Sum implements [model.Bank].
func (b *bank) Sum() int64 { return b.sum }

// Draw implements [model.Bank].
func (b *bank) Draw(ctx context.Context, need int64) (int64, error) {
	for {
		got, others, err := b.draw(ctx, need)
		switch {
		case err != nil && !passing(err):
			return 0, err
		case err == nil && (got > 0 || !others):
			return got, nil
		}
		if err := wait(ctx, drawEvery); err != nil {
			return 0, err
		}
	}
}

// draw tries to get money, and reports whether others have some.
func (b *bank) draw(ctx context.Context, need int64) (got int64, others bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, false, nil
	}
	spent, _ := b.purse.Repay(math.MaxInt64)
	err = pgx.BeginFunc(ctx, b.c.pool, func(tx pgx.Tx) error {
		var most *int64
		var base, taken, lent int64
		err := tx.QueryRow(ctx, `SELECT max_micros, spent_micros FROM queue_runs WHERE run = $1 FOR UPDATE`, b.run).Scan(&most, &base)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT coalesce(sum(spent + lent), 0)::bigint, coalesce(sum(lent), 0)::bigint
			FROM queue_money WHERE run = $1 AND worker <> $2`, b.run, b.worker).Scan(&taken, &lent)
		if err != nil {
			return err
		}
		sum := b.sum
		if most != nil {
			sum = *most
		}
		b.free = sum - base - taken - b.granted
		got, others = 0, lent > 0
		if b.free < need {
			return nil
		}
		got = need + min((ahead-1)*need, (b.free-need)/4)
		return b.write(ctx, tx, spent, b.granted+got)
	})
	if err != nil {
		return 0, others, err
	}
	b.granted += got
	b.free -= got
	b.last = max(b.last, got)
	return got, others, nil
}

// write writes the row.
func (b *bank) write(ctx context.Context, tx pgx.Tx, spent, granted int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO queue_money (run, worker, spent, lent) VALUES ($1, $2, $3, $4)
		ON CONFLICT (run, worker) DO UPDATE SET spent = excluded.spent, lent = excluded.lent`,
		b.run, b.worker, spent, max(0, granted-spent))
	return err
}

// settle says what was spent, and gives back what is not needed. While there is plenty,
// the worker keeps what its next calls will cost.
func (b *bank) settle(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.granted == 0 {
		return nil
	}
	keep := b.last
	if b.free < 10*b.last {
		keep = 0
	}
	spent, back := b.purse.Repay(keep)
	b.granted -= back // It is out of the purse, whether the server hears of it now or later.
	return pgx.BeginFunc(ctx, b.c.pool, func(tx pgx.Tx) error { return b.write(ctx, tx, spent, b.granted) })
}

// close says what was spent for good. No call may be in flight.
func (b *bank) close(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	spent, _ := b.purse.Repay(0)
	err := pgx.BeginFunc(ctx, b.c.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `DELETE FROM queue_money WHERE run = $1 AND worker = $2`, b.run, b.worker)
		if err != nil || tag.RowsAffected() == 0 {
			return err // Nothing was lent, or it is counted already.
		}
		_, err = tx.Exec(ctx, `UPDATE queue_runs SET spent_micros = spent_micros + $2 WHERE run = $1`, b.run, spent)
		return err
	})
	b.closed = err == nil
	return err
}

// abandon ends a bank whose row was counted as spent, because its worker was thought dead.
func (b *bank) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}
