package queue

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Status is what the queue is doing, for those who watch it.
type Status struct {
	Runs    []RunStatus    `json:"runs"` // newest first
	Workers []WorkerStatus `json:"workers"`
}

// A RunStatus is how far a run is.
type RunStatus struct {
	Run      string   `json:"run"`
	State    State    `json:"state"`
	Reason   string   `json:"reason,omitempty"` // why it was stopped
	Priority Priority `json:"priority"`

	Total   int `json:"total"`   // records that the run will have
	Records int `json:"records"` // that it has
	Chunks  int `json:"chunks"`  // that are not done
	Taken   int `json:"taken"`   // of them, that workers have
	Workers int `json:"workers"` // that have some

	Rate float64 `json:"rate"`          // records a second, lately
	ETA  *int64  `json:"eta,omitempty"` // seconds until it is done, if it goes on so; nil when nobody knows

	SpentMicros int64  `json:"spent_micros"` // by calls, also those that no record shows, and what was set aside and never settled
	LentMicros  int64  `json:"lent_micros"`  // that workers may spend
	MaxMicros   *int64 `json:"max_micros,omitempty"`

	QueuedAt  time.Time `json:"queued_at"`
	ChangedAt time.Time `json:"changed_at"`

	// Refused says which workers do not judge the run, and why.
	Refused map[string]string `json:"refused,omitempty"`
}

// A WorkerStatus is what a worker is doing.
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
	Refused  map[string]string `json:"refused,omitempty"` // runs, and why
}

// silent is from when on a worker is shown as one.
const silent = 5 * time.Second

// Status says what the queue is doing. Runs that are done are left out, but for those
// that were within the last hour.
func (c *Control) Status(ctx context.Context) (Status, error) {
	var s Status
	workers, err := c.workers(ctx)
	if err != nil {
		return s, err
	}
	runs, err := c.runs(ctx)
	if err != nil {
		return s, err
	}
	s = Status{Runs: runs, Workers: workers}
	s.share()
	return s, nil
}

// Run says how far one run is.
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

func (c *Control) workers(ctx context.Context) ([]WorkerStatus, error) {
	rows, err := c.pool.Query(ctx, `SELECT id, version, CASE WHEN seen < now() - $1::interval THEN 'silent' ELSE state END, started, seen,
		slots, in_flight, records, rate, refused FROM queue_workers ORDER BY started, id`, silent)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (w WorkerStatus, err error) {
		var refused string
		if err := row.Scan(&w.ID, &w.Version, &w.State, &w.Started, &w.Seen, &w.Slots, &w.InFlight, &w.Records, &w.Rate, &refused); err != nil {
			return w, err
		}
		if w.State == "silent" {
			w.Rate = 0
		}
		return w, json.Unmarshal([]byte(refused), &w.Refused)
	})
}

func (c *Control) runs(ctx context.Context) ([]RunStatus, error) {
	return c.runsWhere(ctx, `q.state <> 'done' OR q.changed_at > now() - interval '1 hour'`)
}

func (c *Control) runsWhere(ctx context.Context, where string, args ...any) ([]RunStatus, error) {
	rows, err := c.pool.Query(ctx, `SELECT q.run, q.state, q.reason, q.priority, r.dataset_items * r.trials,
		(SELECT coalesce(sum(records), 0)::bigint FROM counts k WHERE k.run = r.n), c.chunks, c.taken, c.workers,
		coalesce(r.charged_micros, m.recorded + r.unsettled_micros) + m.spent, m.lent, q.max_micros, q.queued_at, q.changed_at
		FROM queue_runs q JOIN runs r ON r.id = q.run,
		LATERAL (SELECT count(*) AS chunks, count(*) FILTER (WHERE j.state = 'running') AS taken,
			count(DISTINCT `+owner+`) FILTER (WHERE j.state = 'running') AS workers
			FROM river_job j WHERE j.queue = 'run_' || q.run AND j.state IN `+open+`) c,
		LATERAL (SELECT coalesce(sum(spent), 0)::bigint AS spent, coalesce(sum(lent), 0)::bigint AS lent,
			(SELECT coalesce(sum(cost_micros), 0)::bigint FROM counts k WHERE k.run = r.n) AS recorded FROM holdings WHERE run = r.n) m
		WHERE `+where+` ORDER BY q.queued_at DESC, q.run DESC`, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r RunStatus, err error) {
		err = row.Scan(&r.Run, &r.State, &r.Reason, &r.Priority, &r.Total, &r.Records, &r.Chunks, &r.Taken, &r.Workers,
			&r.SpentMicros, &r.LentMicros, &r.MaxMicros, &r.QueuedAt, &r.ChangedAt)
		return r, err
	})
}

// share divides the rate of the workers among the runs that are under way, by the chunks
// that they have: nobody counts records by run and second.
func (s *Status) share() {
	rate, taken := 0.0, 0
	for _, w := range s.Workers {
		rate += w.Rate
	}
	for _, r := range s.Runs {
		taken += r.Taken
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		for _, w := range s.Workers {
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
}
