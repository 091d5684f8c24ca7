package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A share is the number of calls of a run that this worker may have in flight, out of the
// number that all workers may have together. Unused slots are returned at each heartbeat;
// the slots of a dead worker are freed when its death is noticed.
type share struct {
	c           *Control
	run, worker string
	stale       time.Duration // a share that was not renewed for this long is invalid

	asking sync.Mutex // held while asking the database

	mu      sync.Mutex
	slots   int
	used    int
	waiting int
	renewed time.Time
	asked   time.Time
	free    chan struct{} // closed and replaced when a slot may be free
}

func (c *Control) newShare(run, worker string, stale time.Duration) *share {
	return &share{c: c, run: run, worker: worker, stale: stale, free: make(chan struct{})}
}

// shareEvery is the interval at which a worker asks for a larger share.
const shareEvery = 200 * time.Millisecond

// acquire waits for a slot.
func (s *share) acquire(ctx context.Context) error {
	if s.try(0) {
		return nil
	}
	s.mu.Lock()
	s.waiting++
	s.mu.Unlock()
	for {
		// At most one caller per interval asks the database.
		s.mu.Lock()
		due := time.Since(s.asked) >= shareEvery
		if due {
			s.asked = time.Now()
		}
		s.mu.Unlock()
		if due {
			// Ignore the error: while the server is away the share goes stale, and no calls
			// begin.
			_ = s.renew(ctx)
		}
		if s.try(1) {
			return nil
		}
		s.mu.Lock()
		free := s.free
		s.mu.Unlock()
		select {
		case <-free:
		case <-time.After(shareEvery):
		case <-ctx.Done():
			s.mu.Lock()
			s.waiting--
			s.mu.Unlock()
			return ctx.Err()
		}
	}
}

// try takes a slot if one is free. It then subtracts waited from the number of waiting
// calls.
func (s *share) try(waited int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used >= s.slots || time.Since(s.renewed) > s.stale {
		return false
	}
	s.used++
	s.waiting -= waited
	return true
}

func (s *share) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	close(s.free)
	s.free = make(chan struct{})
}

// renew asks for as many slots as are used and waited for. Until the answer is there, the
// worker has only the slots that it said it uses: the database may give the others away. A
// worker with more than an equal part, while others are short of slots, gets only as many as
// it uses until its calls are done.
func (s *share) renew(ctx context.Context) error {
	s.asking.Lock()
	defer s.asking.Unlock()
	s.mu.Lock()
	used, wanted := s.used, s.used+s.waiting
	s.slots = used
	before := time.Now()
	s.mu.Unlock()
	var slots int
	err := pgx.BeginFunc(ctx, s.c.pool, func(tx pgx.Tx) error {
		var bound *int64
		err := tx.QueryRow(ctx, `SELECT concurrency FROM queue_runs WHERE run = $1 FOR UPDATE`, s.run).Scan(&bound)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && bound == nil {
			slots = wanted
			return nil
		}
		if err != nil {
			return err
		}
		var others, taken, short int
		err = tx.QueryRow(ctx, `SELECT count(*), coalesce(sum(slots), 0)::bigint, count(*) FILTER (WHERE wanted > slots)
			FROM queue_shares WHERE run = $1 AND worker <> $2`, s.run, s.worker).Scan(&others, &taken, &short)
		if err != nil {
			return err
		}
		slots = part(int(*bound), others, taken, short, used, wanted)
		_, err = tx.Exec(ctx, `INSERT INTO queue_shares (run, worker, slots, wanted) VALUES ($1, $2, $3, $4)
			ON CONFLICT (run, worker) DO UPDATE SET slots = excluded.slots, wanted = excluded.wanted`, s.run, s.worker, slots, wanted)
		return err
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots, s.renewed = slots, before
	if slots > s.used {
		close(s.free)
		s.free = make(chan struct{})
	}
	return nil
}

// part returns how many of bound slots a worker gets that uses and wants the given numbers,
// if the others have taken some and short of them want more.
func part(bound, others, taken, short, used, wanted int) int {
	slots := min(wanted, bound-taken)
	if short > 0 {
		slots = min(slots, max(used, bound/(others+1)))
	}
	return max(slots, used, 0)
}
