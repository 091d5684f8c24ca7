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
// line for each model; concurrent calls are divided among workers; workers reserve
// money for a few calls at a time. What a worker that died reserved counts as spent.
package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

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

//go:embed migrations/*.sql
var migrations embed.FS

// tables are deem's own tables, in addition to those of River.
var tables = postgres.NewTables(migrations, "deem_queue_migrations", 0x6465656d71756575) // "deemqueu" in ASCII

// Open returns the control of the queue in a store. It creates or upgrades River's tables and
// ours.
func Open(ctx context.Context, st *postgres.Store) (*Control, error) {
	pool := st.Pool()
	// If several processes start together, one migrates and the others wait.
	err := tables.Alone(ctx, pool, func() error {
		rivers, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
		if err != nil {
			return err
		}
		if _, err := rivers.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return err
		}
		return tables.Up(ctx, pool)
	})
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return newControl(st)
}

// Look returns the control of the queue in a read-only store, or nil if nothing was ever
// queued there.
func Look(ctx context.Context, st *postgres.Store) (*Control, error) {
	var there bool
	err := st.Pool().QueryRow(ctx, `SELECT to_regclass('queue_limits') IS NOT NULL AND to_regclass('river_job') IS NOT NULL`).Scan(&there)
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
		EXISTS (SELECT FROM money h JOIN runs r ON r.n = h.run WHERE r.id = $1 AND split_part(h.holder, '#', 1) = w.id)))`,
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

// passing reports whether an error is transient: the server restarts, the connection broke,
// or two transactions conflicted. Errors in a statement itself are permanent.
func passing(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.Contains([]string{"08", "40", "53", "57"}, e.Code[:min(2, len(e.Code))])
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "conn closed") || pgconn.SafeToRetry(err)
}

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
