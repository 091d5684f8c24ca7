package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"deem"
)

// Pause stops workers from taking items of a run until [Control.Resume]. Workers notice
// within about two seconds and keep the results of calls made by then.
func (c *Control) Pause(ctx context.Context, runID string) error {
	return c.halt(ctx, "pause", runID, Paused)
}

// Cancel ends a run: workers take no further items, and results that were paid for are
// kept. The jobs stay, so that the run can still be resumed.
func (c *Control) Cancel(ctx context.Context, runID string) error {
	return c.halt(ctx, "cancel", runID, Cancelled)
}

// halt sets the state. Workers notice at their next heartbeat and return their chunks.
func (c *Control) halt(ctx context.Context, verb, runID string, to State) error {
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		old, err := state(ctx, tx, runID, "FOR UPDATE")
		if err != nil || old == Done || old == to {
			return err
		}
		return setState(ctx, tx, runID, to, "")
	})
	if err != nil {
		return fmt.Errorf("%s run %s: %w", verb, runID, err)
	}
	return nil
}

// stop ends a run whose budget is spent, as determined from its state at time changed. If
// the run was changed since, it may have a larger budget and is left as it is; the next
// worker that judges it will find out. It reports whether the run is stopped.
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
		return setState(ctx, tx, runID, Stopped, reason)
	})
	return stopped && err == nil, err
}

func setState(ctx context.Context, tx pgx.Tx, runID string, to State, reason string) error {
	_, err := tx.Exec(ctx, `UPDATE queue_runs SET state = $2, reason = $3, changed_at = now() WHERE run = $1`, runID, string(to), reason)
	return err
}

// A Change lists the settings of a run that [Control.Resume] changes. A nil field keeps its
// value.
type Change struct {
	MaxMicros *int64
	Priority  *Priority
}

// Resume makes workers continue a run that was paused, cancelled or stopped. For a run that
// is already queued it only applies the change.
func (c *Control) Resume(ctx context.Context, runID string, ch Change) error {
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		old, err := state(ctx, tx, runID, "FOR UPDATE")
		if err != nil {
			return err
		}
		if old == Done {
			return deem.WithHint(fmt.Errorf("every item has a record"), "show them with: deem report %s", runID)
		}
		var text string
		if err := tx.QueryRow(ctx, `SELECT options FROM queue_runs WHERE run = $1`, runID).Scan(&text); err != nil {
			return err
		}
		var o Options
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return err
		}
		if ch.MaxMicros != nil {
			o.MaxMicros = ch.MaxMicros
		}
		if ch.Priority != nil {
			o.Priority = *ch.Priority
		}
		options, err := json.Marshal(o)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE queue_runs SET state = 'queued', reason = '', options = $2, priority = $3, max_micros = $4, changed_at = now()
			WHERE run = $1`, runID, string(options), int16(o.Priority), o.MaxMicros)
		if err != nil {
			return err
		}
		// A chunk that failed too many times gets all its attempts again.
		_, err = tx.Exec(ctx, `UPDATE river_job SET state = 'available', attempt = 0, scheduled_at = now(), finalized_at = NULL
			WHERE queue = $1 AND state IN ('available', 'retryable', 'scheduled', 'discarded', 'cancelled')`, queueOf(runID))
		return err
	})
	if err != nil {
		return fmt.Errorf("resume run %s: %w", runID, err)
	}
	return nil
}
