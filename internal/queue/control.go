package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
)

// Pause lets no worker take items of a run until [Control.Resume]. Workers notice within
// about two seconds; what they have asked by then they keep.
func (c *Control) Pause(ctx context.Context, runID string) error {
	return c.halt(ctx, runID, Paused)
}

// Cancel ends a run: no worker takes further items, what is paid for is kept, and the
// chunks stay, so that it can be resumed after all.
func (c *Control) Cancel(ctx context.Context, runID string) error {
	return c.halt(ctx, runID, Cancelled)
}

func (c *Control) halt(ctx context.Context, runID string, to State) error {
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error { return c.haltTx(ctx, tx, runID, to, "") })
	if err != nil {
		return fmt.Errorf("%s run %s: %w", verbs[to], runID, err)
	}
	return nil
}

// stop ends a run whose money is spent, as somebody who read it at changed found. A run
// that was changed since may have been given more, and is left as it is: whoever judges
// it next knows. It reports whether the run is stopped.
func (c *Control) stop(ctx context.Context, runID string, changed time.Time, reason string) (stopped bool, err error) {
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		var state State
		var last time.Time
		err := tx.QueryRow(ctx, `SELECT state, changed_at FROM queue_runs WHERE run = $1 FOR UPDATE`, runID).Scan(&state, &last)
		if err != nil {
			return err
		}
		if state != Queued || !last.Equal(changed) {
			stopped = state == Stopped
			return nil
		}
		stopped = true
		return c.haltTx(ctx, tx, runID, Stopped, reason)
	})
	return stopped && err == nil, err
}

var verbs = map[State]string{Paused: "pause", Cancelled: "cancel"}

// haltTx takes the tickets of a run away. Giving a chunk back looks at the state with a
// lock, so no ticket can be made meanwhile.
func (c *Control) haltTx(ctx context.Context, tx pgx.Tx, runID string, to State, reason string) error {
	state, err := c.state(ctx, tx, runID, "FOR UPDATE")
	if err != nil {
		return err
	}
	if state == Done || state == to {
		return nil // Nothing is left to be halted.
	}
	var queue string
	err = tx.QueryRow(ctx, `UPDATE queue_runs SET state = $2, reason = $3, changed_at = now() WHERE run = $1 RETURNING queue`,
		runID, string(to), reason).Scan(&queue)
	if err != nil {
		return err
	}
	return dropTickets(ctx, tx, runID, queue)
}

// A Change is what [Control.Resume] changes of a run. What is nil stays.
type Change struct {
	MaxMicros *int64
	Priority  *Priority
}

// Resume lets workers go on with a run that was paused, cancelled or stopped. A run that
// goes on already only gets the change.
func (c *Control) Resume(ctx context.Context, runID string, ch Change) error {
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error { return c.resume(ctx, tx, runID, ch) })
	if err != nil {
		return fmt.Errorf("resume run %s: %w", runID, err)
	}
	return nil
}

func (c *Control) resume(ctx context.Context, tx pgx.Tx, runID string, ch Change) error {
	state, err := c.state(ctx, tx, runID, "FOR UPDATE")
	if err != nil {
		return err
	}
	if state == Done {
		return deem.WithHint(fmt.Errorf("every item has a record"), "show them with: deem report %s", runID)
	}
	queue, priority, err := change(ctx, tx, runID, ch)
	if err != nil {
		return err
	}
	if err := dropTickets(ctx, tx, runID, queue); err != nil {
		return err
	}
	if err := moveUp(ctx, tx, runID, queue, priority); err != nil {
		return err
	}
	chunks, err := chunksOf(ctx, tx, untouched, runID)
	if err != nil {
		return err
	}
	return addTickets(ctx, c.client, tx, runID, queue, priority, chunks)
}

// change sets the run to queued, with what is changed of it.
func change(ctx context.Context, tx pgx.Tx, runID string, ch Change) (queue string, p Priority, err error) {
	var text string
	if err := tx.QueryRow(ctx, `SELECT options FROM queue_runs WHERE run = $1`, runID).Scan(&text); err != nil {
		return "", 0, err
	}
	var o Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return "", 0, err
	}
	if ch.MaxMicros != nil {
		o.MaxMicros = ch.MaxMicros
	}
	if ch.Priority != nil {
		o.Priority = *ch.Priority
	}
	options, err := json.Marshal(o)
	if err != nil {
		return "", 0, err
	}
	err = tx.QueryRow(ctx, `UPDATE queue_runs SET state = 'queued', reason = '', options = $2, priority = $3, max_micros = $4, changed_at = now()
		WHERE run = $1 RETURNING queue, priority`, runID, string(options), int16(o.Priority), o.MaxMicros).Scan(&queue, &p)
	return queue, p, err
}

// moveUp gives the chunks of a run places from where the queue is served now: a run that
// was paused for long does not make up for it at the others' expense.
func moveUp(ctx context.Context, tx pgx.Tx, runID, queue string, p Priority) error {
	place, err := servedPlace(ctx, tx, queue, p)
	if err != nil {
		return err
	}
	// Whoever takes a chunk now has to look which of its items have a record: somebody may
	// have judged them meanwhile.
	_, err = tx.Exec(ctx, `UPDATE queue_chunks SET token = token + 1, place = place + $2 - (SELECT min(place) FROM queue_chunks WHERE run = $1)
		WHERE run = $1 AND worker IS NULL`, runID, place)
	return err
}
