package queue

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Status is the state of the queue.
type Status struct {
	Runs    []RunStatus    `json:"runs"` // newest first
	Workers []WorkerStatus `json:"workers"`
}

// A RunStatus is the progress of a run.
type RunStatus struct {
	Run      string   `json:"run"`
	State    State    `json:"state"`
	Reason   string   `json:"reason,omitempty"` // why it was stopped
	Priority Priority `json:"priority"`

	Total   int `json:"total"`   // records of the complete run
	Records int `json:"records"` // records so far
	Chunks  int `json:"chunks"`  // unfinished chunks
	Taken   int `json:"taken"`   // unfinished chunks that workers have
	Workers int `json:"workers"` // workers that have chunks

	Rate float64 `json:"rate"`          // recent records per second
	ETA  *int64  `json:"eta,omitempty"` // seconds until it is done at the current rate; nil if unknown

	SpentMicros    int64  `json:"spent_micros"`    // on calls, including those without a record, and money set aside and never settled
	ReservedMicros int64  `json:"reserved_micros"` // by workers, for calls in flight and calls to come
	MaxMicros      *int64 `json:"max_micros,omitempty"`

	QueuedAt  time.Time `json:"queued_at"`
	ChangedAt time.Time `json:"changed_at"`

	// Refused maps workers that do not judge the run to the reason.
	Refused map[string]string `json:"refused,omitempty"`
}

// A WorkerStatus is the state of a worker.
type WorkerStatus struct {
	ID       string            `json:"id"`
	Version  string            `json:"version"`
	State    string            `json:"state"` // working, draining or silent
	Started  time.Time         `json:"started"`
	Seen     time.Time         `json:"seen"`
	Slots    int               `json:"slots"`
	InFlight int               `json:"in_flight"`
	Records  int               `json:"records"`
	Rate     float64           `json:"rate"`
	Refused  map[string]string `json:"refused,omitempty"` // runs and reasons
}

// silent is how long after its last heartbeat a worker is shown as silent.
const silent = 5 * time.Second

// Status returns the state of the queue. It includes finished runs only if they finished
// within the last hour.
func (c *Control) Status(ctx context.Context) (Status, error) {
	rows, err := c.pool.Query(ctx, `SELECT id, version, CASE WHEN seen < now() - $1::interval THEN 'silent' ELSE state END, started, seen,
		slots, in_flight, records, rate, refused FROM queue_workers ORDER BY started, id`, silent)
	if err != nil {
		return Status{}, err
	}
	workers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w WorkerStatus, err error) {
		var refused string
		if err := row.Scan(&w.ID, &w.Version, &w.State, &w.Started, &w.Seen, &w.Slots, &w.InFlight, &w.Records, &w.Rate, &refused); err != nil {
			return w, err
		}
		if w.State == "silent" {
			w.Rate = 0
		}
		return w, json.Unmarshal([]byte(refused), &w.Refused)
	})
	if err != nil {
		return Status{}, err
	}
	runs, err := c.runsWhere(ctx, `q.state <> 'done' OR q.changed_at > now() - interval '1 hour'`)
	if err != nil {
		return Status{}, err
	}
	// Records per second are not counted by run, so the rate of the workers is divided among
	// the active runs, in proportion to their chunks.
	rate, taken := 0.0, 0
	for _, w := range workers {
		rate += w.Rate
	}
	for _, r := range runs {
		taken += r.Taken
	}
	for i := range runs {
		r := &runs[i]
		for _, w := range workers {
			if why, ok := w.Refused[r.Run]; ok {
				if r.Refused == nil {
					r.Refused = map[string]string{}
				}
				r.Refused[w.ID] = why
			}
		}
		if r.Taken == 0 {
			continue
		}
		r.Rate = rate * float64(r.Taken) / float64(taken)
		if left := r.Total - r.Records; r.Rate > 0 && r.State == Queued {
			r.ETA = new(int64(float64(left) / r.Rate))
		}
	}
	return Status{Runs: runs, Workers: workers}, nil
}

// Run returns the progress of one run.
func (c *Control) Run(ctx context.Context, runID string) (RunStatus, error) {
	if _, err := state(ctx, c.pool, runID, ""); err != nil {
		return RunStatus{}, err
	}
	s, err := c.Status(ctx)
	if err != nil {
		return RunStatus{}, err
	}
	i := slices.IndexFunc(s.Runs, func(r RunStatus) bool { return r.Run == runID })
	if i >= 0 {
		return s.Runs[i], nil
	}
	list, err := c.runsWhere(ctx, `q.run = $1`, runID)
	if err != nil || len(list) == 0 {
		return RunStatus{}, errors.Join(err, ErrNotQueued)
	}
	return list[0], nil
}

func (c *Control) runsWhere(ctx context.Context, where string, args ...any) ([]RunStatus, error) {
	rows, err := c.pool.Query(ctx, `SELECT q.run, q.state, q.reason, q.priority, r.dataset_items * r.trials,
		(SELECT coalesce(sum(records), 0)::bigint FROM counts k WHERE k.run = r.n), c.chunks, c.taken, c.workers,
		(SELECT coalesce(sum(cost_micros), 0)::bigint FROM counts k WHERE k.run = r.n) + m.spent, m.reserved, q.max_micros, q.queued_at, q.changed_at
		FROM queue_runs q JOIN runs r ON r.id = q.run,
		LATERAL (SELECT count(*) AS chunks, count(*) FILTER (WHERE j.state = 'running') AS taken,
			count(DISTINCT `+owner+`) FILTER (WHERE j.state = 'running') AS workers
			FROM river_job j WHERE j.queue = 'run_' || q.run AND j.state IN `+open+`) c,
		LATERAL (SELECT coalesce(sum(spent), 0)::bigint AS spent, coalesce(sum(reserved), 0)::bigint AS reserved FROM money WHERE run = r.n) m
		WHERE `+where+` ORDER BY q.queued_at DESC, q.run DESC`, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r RunStatus, err error) {
		err = row.Scan(&r.Run, &r.State, &r.Reason, &r.Priority, &r.Total, &r.Records, &r.Chunks, &r.Taken, &r.Workers,
			&r.SpentMicros, &r.ReservedMicros, &r.MaxMicros, &r.QueuedAt, &r.ChangedAt)
		return r, err
	})
}
