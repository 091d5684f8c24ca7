package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// Work is a run that is to be judged by workers.
type Work struct {
	Run   store.Run // which the caller has begun, and has the claim on
	Items iter.Seq2[deem.Item, error]
	Calls int // that the judge makes about one item at most; 0 for a rule
	Options
}

// Queuing says what was queued.
type Queuing struct {
	Items  int // that have no record yet
	Chunks int
	Again  bool // the run was queued before, and goes on
}

// Enqueue gives a run to workers: all of it that has no record yet, or nothing and an
// error. A run that workers have already is [ErrQueued]; one that was paused, cancelled
// or stopped is queued anew, with its new options.
//
// The items are written as they come, so memory does not grow with their number.
func (c *Control) Enqueue(ctx context.Context, w Work) (Queuing, error) {
	queue, err := queueOf(w.Run, w.Options)
	if err != nil {
		return Queuing{}, err
	}
	if w.Priority == 0 {
		w.Priority = Normal
	}
	var q Queuing
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		if q.Again, err = c.register(ctx, tx, w, queue); err != nil {
			return err
		}
		place, err := servedPlace(ctx, tx, queue, w.Priority)
		if err != nil {
			return err
		}
		chunks, err := c.copyChunks(ctx, tx, w, place, &q.Items)
		if err != nil {
			return err
		}
		q.Chunks = len(chunks)
		if err := c.settle(ctx, tx, w.Run.ID, q); err != nil {
			return err
		}
		return addTickets(ctx, c.client, tx, w.Run.ID, queue, w.Priority, chunks)
	})
	if err != nil {
		return Queuing{}, fmt.Errorf("queue run %s: %w", w.Run.ID, err)
	}
	return q, nil
}

// register adds the run, or takes it again after it was paused, cancelled, stopped or
// done.
func (c *Control) register(ctx context.Context, tx pgx.Tx, w Work, queue string) (again bool, err error) {
	options, err := json.Marshal(w.Options)
	if err != nil {
		return false, err
	}
	var bound *int64
	if w.Concurrency > 0 {
		bound = new(int64(w.Concurrency))
	}
	tag, err := tx.Exec(ctx, `INSERT INTO queue_runs (run, queue, state, priority, options, chunks, items, concurrency, max_micros)
		VALUES ($1, $2, 'queued', $3, $4, 0, 0, $5, $6) ON CONFLICT DO NOTHING`,
		w.Run.ID, queue, int16(w.Priority), string(options), bound, w.MaxMicros)
	if err != nil || tag.RowsAffected() == 1 {
		return false, err
	}
	state, err := c.state(ctx, tx, w.Run.ID, "FOR UPDATE")
	if err != nil {
		return true, err
	}
	if state == Queued {
		return true, deem.WithHint(ErrQueued, "watch it with: deem queue")
	}
	var busy int
	err = tx.QueryRow(ctx, `SELECT count(*) FROM queue_chunks c JOIN queue_workers q ON q.id = c.worker
		WHERE c.run = $1 AND q.seen > now() - $2::interval`, w.Run.ID, 3*silent).Scan(&busy)
	if err != nil {
		return true, err
	}
	if busy > 0 {
		return true, deem.WithHint(ErrQueued, "workers are about to give it back; try again in a few seconds")
	}
	if err := dropTickets(ctx, tx, w.Run.ID, queue); err != nil {
		return true, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM queue_chunks WHERE run = $1`, w.Run.ID); err != nil {
		return true, err
	}
	_, err = tx.Exec(ctx, `UPDATE queue_runs SET queue = $2, state = 'queued', reason = '', priority = $3, options = $4,
		concurrency = $5, max_micros = $6, queued_at = now(), changed_at = now() WHERE run = $1`,
		w.Run.ID, queue, int16(w.Priority), string(options), bound, w.MaxMicros)
	return true, err
}

// settle writes how much there is to do. A run of which nothing is left is done.
func (c *Control) settle(ctx context.Context, tx pgx.Tx, run string, q Queuing) error {
	_, err := tx.Exec(ctx, `UPDATE queue_runs SET chunks = $2, items = $3, state = CASE WHEN $2::bigint = 0 THEN 'done' ELSE state END WHERE run = $1`,
		run, q.Chunks, q.Items)
	return err
}

// copyChunks writes the items that have no record yet, from a place on, and returns the
// chunks.
func (c *Control) copyChunks(ctx context.Context, tx pgx.Tx, w Work, place int64, items *int) ([]numbered, error) {
	var chunks []numbered
	size := newSizer(w.Run.Dataset.Items, w.Run.Trials, w.Run.Judge.Rule, w.Calls, w.RPM)
	next, stop := iter.Pull2(cut(c.missing(ctx, w), size))
	defer stop()
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"queue_chunks"}, []string{"run", "n", "place", "items", "body"},
		pgx.CopyFromFunc(func() ([]any, error) {
			ch, err, ok := next()
			if err != nil || !ok {
				return nil, err
			}
			*items += ch.items
			at := numbered{ch.n, place + ch.place}
			chunks = append(chunks, at)
			return []any{w.Run.ID, at.n, at.place, ch.items, ch.body}, nil
		}))
	return chunks, err
}

// cut makes chunks of items.
func cut(items iter.Seq2[placed, error], s sizer) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		p := newPacker(s)
		for it, err := range items {
			if err != nil {
				yield(chunk{}, err)
				return
			}
			ch, full, err := p.add(it)
			if err != nil || full {
				if !yield(ch, err) || err != nil {
					return
				}
			}
		}
		if ch, some, err := p.last(); err != nil || some {
			yield(ch, err)
		}
	}
}

// missing returns the items that lack a record, with their places. Of a new run that is
// all of them.
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
				if !done.all(it.Item.ID, w.Run.Trials) && !yield(it, nil) {
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

// trialOf is one trial of an item.
type trialOf struct {
	id    string
	trial int
}

// A recordedSet is which trials have a record that counts.
type recordedSet map[trialOf]bool

// recorded returns which trials of the given items have a record. Failures do not count
// when they are to be judged again.
func recorded(ctx context.Context, st store.Store, run store.Run, list []placed, retry bool) (recordedSet, error) {
	done := recordedSet{}
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

// all reports whether every trial of an item has a record.
func (s recordedSet) all(id string, trials int) bool {
	for trial := range trials {
		if !s[trialOf{id, trial}] {
			return false
		}
	}
	return true
}
