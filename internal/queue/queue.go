// Package queue spreads runs over workers, any number of processes on any machines that
// share one Postgres. River, a job queue inside that Postgres, hands the work out.
//
// A [Control] queues a run: its items are cut into chunks, and each chunk is a job of
// River, in a queue of the run's own. It also pauses, resumes and cancels runs, and says
// how far they are. A [Worker] listens to the queues of the runs that it can judge, makes
// their judges, and judges the items of a chunk that have no record yet.
//
// River retries jobs that failed and rescues those of workers that died. A job may
// therefore run twice, at worst at the same time. The records make that harmless: the
// store keeps the first record of an item and drops any other.
//
// All limits hold for the workers together. Calls a minute and tokens a minute are times
// on one line for each model; calls at once are divided among workers; money is lent to
// workers in small sums. What a worker that died had been lent counts as spent.
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

// Errors that callers tell apart. All of them come with a hint.
var (
	// ErrNotQueued means that the run was never given to workers.
	ErrNotQueued = errors.New("the run was not given to workers")

	// ErrQueued means that workers are judging the run.
	ErrQueued = fmt.Errorf("workers have the run: %w", store.ErrBusy)
)

// A Control queues runs and says what becomes of them. It owns no goroutine, and lives
// as long as its store.
type Control struct {
	st     *postgres.Store
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx] // that only inserts
}

// Open returns the control of the queue in a store, whose tables it makes if they are
// missing.
func Open(ctx context.Context, st *postgres.Store) (*Control, error) {
	if err := migrate(ctx, st.Pool()); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return newControl(st)
}

// Look returns the control of the queue in a store that is read only. It is nil when
// nothing was ever queued there.
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

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

// Busy returns [ErrQueued] when workers have the run. A process that wants to judge it
// alone asks this first.
func (c *Control) Busy(ctx context.Context, runID string) error {
	state, err := state(ctx, c.pool, runID, "")
	switch {
	case errors.Is(err, ErrNotQueued):
		return nil
	case err != nil:
		return err
	case state == Queued || state == Paused:
		return deem.WithHint(ErrQueued, "watch it with: deem queue; take it from them with: deem queue cancel %s", runID)
	}
	return held(ctx, c.pool, runID)
}

// held returns [ErrQueued] while workers that are alive have chunks or money of a run that
// was halted.
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

// owner is the worker that has job j, and open are the states of a job that is not done.
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
		return "", deem.WithHint(fmt.Errorf("run %s: %w", runID, ErrNotQueued), "deem run ... --detach gives a run to workers")
	}
	return state, err
}

// A State says what is to become of a run.
type State string

// The states of a run in the queue.
const (
	Queued    State = "queued"    // workers take its chunks
	Paused    State = "paused"    // no worker takes any until it is resumed
	Cancelled State = "cancelled" // the same, and nobody expects that it will be
	Stopped   State = "stopped"   // its money is spent, or its judge cannot be asked
	Done      State = "done"      // every item has a record
)

// A Priority says which runs come first. A run of a higher one is served before all of
// lower ones, and runs of the same one take turns.
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
