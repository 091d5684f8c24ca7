// Package queue distributes runs over workers: any number of processes, on any machines,
// that share one Postgres. The work is distributed by River, a job queue inside that
// Postgres.
//
// A [Control] queues a run: its items are split into chunks, and each chunk is a River job
// in the run's own queue. It also pauses, resumes and cancels runs, and reports their
// progress. A [Worker] listens to the queues of the runs that it can judge, builds their
// judges, and judges the items of a chunk that have no record yet.
//
// River retries failed jobs and rescues the jobs of dead workers. A job may therefore run
// twice, even at the same time. This is harmless: the store keeps the first record of an
// item and drops any other.
//
// All limits apply to the workers together. Requests and tokens per minute are times on one
// line for each model; concurrent calls are divided among workers; money is lent to workers
// in small amounts. Money lent to a worker that died counts as spent.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"deem"
	"deem/internal/store"
	"deem/internal/store/postgres"
)

// Errors that callers distinguish. All of them come with a hint.
var (
	// ErrNotQueued is returned if the run was never given to workers.
	ErrNotQueued = errors.New("the run was not given to workers")

	// ErrQueued is returned if workers are judging the run.
	ErrQueued = fmt.Errorf("workers have the run: %w", store.ErrBusy)
)

// A Control queues runs and reports their progress. It has no goroutine, and may be used as
// long as its store is open.
type Control struct {
	st     *postgres.Store
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx] // insert-only
}

// Open returns the control of the queue in a store. It creates the tables if they are
// missing.
func Open(ctx context.Context, st *postgres.Store) (*Control, error) {
	if err := migrate(ctx, st.Pool()); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return newControl(st)
}

// Look returns the control of the queue in a read-only store, or nil if nothing was ever
// queued there.
func Look(ctx context.Context, st *postgres.Store) (*Control, error) {
	there, err := hasTables(ctx, st.Pool())
	if err != nil || !there {
		return nil, err
	}
	return newControl(st)
}

func newControl(st *postgres.Store) (*Control, error) {
	client, err := river.NewClient(riverpgxv5.New(st.Pool()), &river.Config{Logger: quiet})
	if err != nil {
		return nil, err
	}
	return &Control{st: st, pool: st.Pool(), client: client}, nil
}

// quiet discards all log messages.
var quiet = slog.New(slog.DiscardHandler)

// Busy returns [ErrQueued] if workers have the run. Processes call it before they judge a
// run alone.
func (c *Control) Busy(ctx context.Context, runID string) error {
	state, err := state(ctx, c.pool, runID, "")
	switch {
	case errors.Is(err, ErrNotQueued):
		return nil
	case err != nil:
		return err
	case state == Queued || state == Paused:
		return deem.WithHint(ErrQueued, "watch it with: deem queue; take it back with: deem queue cancel %s", runID)
	}
	return held(ctx, c.pool, runID)
}

// held returns [ErrQueued] while live workers still have chunks or money of a halted run.
func held(ctx context.Context, q querier, runID string) error {
	var held bool
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM queue_workers w WHERE w.seen > now() - $3::interval AND (
		EXISTS (SELECT FROM river_job j WHERE j.state = 'running' AND j.queue = $2 AND `+owner+` = w.id) OR
		EXISTS (SELECT FROM holdings h JOIN runs r ON r.n = h.run WHERE r.id = $1 AND split_part(h.holder, '#', 1) = w.id)))`,
		runID, queueOf(runID), 3*silent).Scan(&held)
	if err == nil && held {
		return deem.WithHint(ErrQueued, "workers are about to give it back; try again in a few seconds")
	}
	return err
}

// owner is the worker that has job j; open lists the states of unfinished jobs.
const (
	owner = `j.attempted_by[array_upper(j.attempted_by, 1)]`
	open  = `('available', 'running', 'retryable', 'scheduled', 'pending', 'discarded', 'cancelled')`
)

// A querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// state returns the state of a run. The lock is "", "FOR SHARE" or "FOR UPDATE".
func state(ctx context.Context, q querier, runID, lock string) (State, error) {
	var state State
	err := q.QueryRow(ctx, `SELECT state FROM queue_runs WHERE run = $1 `+lock, runID).Scan(&state)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", deem.WithHint(fmt.Errorf("run %s: %w", runID, ErrNotQueued), "give a run to workers with: deem run --data FILE --detach")
	}
	return state, err
}

// A State is the state of a run in the queue.
type State string

// The states of a run in the queue.
const (
	Queued    State = "queued"    // workers take its chunks
	Paused    State = "paused"    // workers take no chunks until it is resumed
	Cancelled State = "cancelled" // like Paused, but not expected to be resumed
	Stopped   State = "stopped"   // its budget is spent, or a chunk failed
	Done      State = "done"      // every item has a record
)

// A Priority orders runs. Runs with a higher priority are served before all others, and
// runs with the same priority take turns.
type Priority int

// The priorities.
const (
	High   Priority = 1
	Normal Priority = 2
	Low    Priority = 3
)

// ParsePriority reads "high", "normal" or "low".
func ParsePriority(s string) (Priority, error) {
	for p := High; p <= Low; p++ {
		if p.String() == s {
			return p, nil
		}
	}
	return 0, fmt.Errorf("%q is not a priority: high, normal or low", s)
}

// String returns the priority in lower case.
func (p Priority) String() string {
	switch p {
	case High:
		return "high"
	case Low:
		return "low"
	default:
		return "normal"
	}
}

// MarshalText implements [encoding.TextMarshaler].
func (p Priority) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Priority) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePriority(string(text))
	return err
}
