package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"deem"
	"deem/internal/model"
	"deem/internal/store"
)

// Options are the settings of a run that workers need and the store does not keep. They
// contain no secrets: workers use their own keys and headers.
type Options struct {
	Models []Model `json:"models,omitempty"` // used by the judge

	Concurrency int           `json:"concurrency,omitempty"` // concurrent calls of all workers; 0 means no limit
	RPM         int           `json:"rpm,omitempty"`         // requests per minute of all workers
	TPM         int           `json:"tpm,omitempty"`         // tokens per minute of all workers
	MaxMicros   *int64        `json:"max_micros,omitempty"`  // budget of the run, including earlier parts
	Retries     int           `json:"retries"`
	Timeout     time.Duration `json:"timeout,omitempty"` // of one call
	Prices      model.Prices  `json:"prices,omitzero"`

	Fresh         bool     `json:"fresh,omitempty"` // do not use cached replies
	RetryUnjudged bool     `json:"retry_unjudged,omitempty"`
	Priority      Priority `json:"priority"`
	Version       string   `json:"version,omitempty"` // of the deem that queued it
}

// A Model is a model that the judge of a run uses, and its address. A worker opens it with
// its own configuration and refuses the run if that leads to a different address, so that
// its key is sent nowhere else.
type Model struct {
	Name     string            `json:"name"`
	Settings string            `json:"settings,omitempty"` // part of the judge's identity
	Endpoint string            `json:"endpoint,omitempty"`
	Options  map[string]string `json:"options,omitempty"` // vendor-specific
}

// Work is a run to be judged by workers.
type Work struct {
	Run   store.Run // begun and claimed by the caller
	Items iter.Seq2[deem.Item, error]
	Options
}

// Queuing is the result of [Control.Enqueue].
type Queuing struct {
	Items  int // without a record
	Chunks int
	Again  bool // the run was queued before and is continued
}

// Enqueue queues all items of a run that have no record yet, or none if it returns an
// error. The error is [ErrQueued] if workers already have the run. A run that was paused,
// cancelled or stopped is queued again, with its new options.
//
// The items are written as they are read, so memory use does not depend on their number.
func (c *Control) Enqueue(ctx context.Context, w Work) (Queuing, error) {
	if w.Priority == 0 {
		w.Priority = Normal
	}
	var q Queuing
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		// The run is added, or updated if it was paused, cancelled, stopped or done.
		switch old, err := state(ctx, tx, w.Run.ID, "FOR UPDATE"); {
		case errors.Is(err, ErrNotQueued):
		case err != nil:
			return err
		case old == Queued:
			return deem.WithHint(ErrQueued, "watch it with: deem queue")
		default:
			q.Again = true
			if err := held(ctx, tx, w.Run.ID); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `DELETE FROM river_job WHERE queue = $1`, queueOf(w.Run.ID)); err != nil {
				return err
			}
		}
		options, err := json.Marshal(w.Options)
		if err != nil {
			return err
		}
		var bound *int64
		if w.Concurrency > 0 {
			bound = new(int64(w.Concurrency))
		}
		_, err = tx.Exec(ctx, `INSERT INTO queue_runs (run, state, priority, options, concurrency, max_micros)
			VALUES ($1, 'queued', $2, $3, $4, $5) ON CONFLICT (run) DO UPDATE SET state = 'queued', reason = '', priority = excluded.priority,
			options = excluded.options, concurrency = excluded.concurrency, max_micros = excluded.max_micros, queued_at = now(), changed_at = now()`,
			w.Run.ID, int16(w.Priority), string(options), bound, w.MaxMicros)
		if err != nil {
			return err
		}
		if err := c.insertChunks(ctx, tx, w, &q); err != nil {
			return err
		}
		next := `UPDATE runs SET state = 'open' WHERE id = $1`
		if q.Chunks == 0 {
			next = `UPDATE queue_runs SET state = 'done' WHERE run = $1`
		}
		_, err = tx.Exec(ctx, next, w.Run.ID)
		return err
	})
	if err != nil {
		return Queuing{}, fmt.Errorf("queue run %s: %w", w.Run.ID, err)
	}
	return q, nil
}

// maxAttempts is the maximum number of attempts for a chunk. A run with a chunk that failed
// this many times is stopped.
const maxAttempts = 25

// insertChunks inserts the jobs, a few megabytes at a time.
func (c *Control) insertChunks(ctx context.Context, tx pgx.Tx, w Work, q *Queuing) error {
	var list []river.InsertManyParams
	size := 0
	insert := func() error {
		_, err := c.client.InsertManyFastTx(ctx, tx, list)
		list, size = list[:0], 0
		return err
	}
	most := min(maxItems, max(1, w.Run.Dataset.Items/spread))
	for ch, err := range cut(w.Run.ID, c.missing(ctx, w), most) {
		if err != nil {
			return err
		}
		q.Items, q.Chunks = q.Items+ch.count, q.Chunks+1
		list = append(list, river.InsertManyParams{Args: ch, InsertOpts: &river.InsertOpts{Queue: queueOf(w.Run.ID), MaxAttempts: maxAttempts}})
		if size += len(ch.Items); size >= 2*maxBytes || len(list) >= 1000 {
			if err := insert(); err != nil {
				return err
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return insert()
}

// missing returns the items without a record, with their positions. For a new run these are
// all items.
func (c *Control) missing(ctx context.Context, w Work) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		position := 0
		var group []placed
		flush := func() bool {
			done, err := recorded(ctx, c.st, w.Run, group, w.RetryUnjudged)
			if err != nil {
				return yield(placed{}, err)
			}
			for _, it := range group {
				missing := false
				for trial := range w.Run.Trials {
					missing = missing || !done[trialOf{it.Item.ID, trial}]
				}
				if missing && !yield(it, nil) {
					return false
				}
			}
			group = group[:0]
			return true
		}
		for it, err := range w.Items {
			if err != nil {
				yield(placed{}, err)
				return
			}
			at := placed{position, it}
			position++
			if w.Run.Records == 0 {
				if !yield(at, nil) {
					return
				}
				continue
			}
			if group = append(group, at); len(group) == maxItems && !flush() {
				return
			}
		}
		if len(group) > 0 {
			flush()
		}
	}
}

// A trialOf identifies one trial of an item.
type trialOf struct {
	id    string
	trial int
}

// recorded returns the trials of the given items that have a record. Failures do not count
// if retry is set.
func recorded(ctx context.Context, st store.Store, run store.Run, list []placed, retry bool) (map[trialOf]bool, error) {
	done := map[trialOf]bool{}
	if len(list) == 0 {
		return done, nil
	}
	ids := make([]string, len(list))
	for i, it := range list {
		ids[i] = it.Item.ID
	}
	for rec, err := range st.Records(ctx, run.ID, store.Query{IDs: ids, Brief: true}) {
		if err != nil {
			return nil, err
		}
		if rec.Verdict != nil || !retry && !store.IsUnfinished(rec) {
			done[trialOf{rec.Item.ID, rec.Trial}] = true
		}
	}
	return done, nil
}

// queueOf returns the name of the River queue of a run. Each run has its own queue, so that
// a worker listens only to runs it can judge, and runs take turns in each worker.
func queueOf(runID string) string { return "run_" + runID }
