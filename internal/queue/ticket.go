package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// A ticket is a job of River: whoever has it may take the chunk that it names, if that
// is still to be had. It can be lost, and there may be two of it.
type ticket struct {
	Run   string `json:"run"`
	Chunk int64  `json:"chunk"`
}

// Kind implements [river.JobArgs].
func (ticket) Kind() string { return "deem_chunk" }

// River serves tickets of one priority by their time. That time is no time here but a
// place in the order in which runs take turns: work that comes before it, a microsecond
// for each millisecond of work, counted from a day long ago. A run that is queued begins
// at the place that is being served, so it waits for nobody's earlier run to end, and no
// earlier run waits for it: both go on from there with an equal share of the work. This
// is start-time fair queueing.
var origin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// horizon is beyond every place. What River tries again has a real time, behind it.
var horizon = origin.AddDate(20, 0, 0)

// timeAt returns the time that stands for a place.
func timeAt(place int64) time.Time { return origin.Add(time.Duration(place) * time.Microsecond) }

// placeAt is the inverse of timeAt.
func placeAt(t time.Time) int64 { return t.Sub(origin).Microseconds() }

// atOnce is a hook of River. It takes every job that has a time for one that is to wait
// for it, even if it is long past, until its leader looks; but a ticket can be had at once.
var atOnce = river.HookInsertBeginFunc(func(_ context.Context, p *rivertype.JobInsertParams) error {
	if p.Kind == (ticket{}).Kind() && p.State == rivertype.JobStateScheduled {
		p.State = rivertype.JobStateAvailable
	}
	return nil
})

// servedPlace returns the place that is being served in a queue: that of the next
// ticket, or else of the last one that was taken.
func servedPlace(ctx context.Context, tx pgx.Tx, queue string, priority Priority) (int64, error) {
	var at time.Time
	err := tx.QueryRow(ctx, `SELECT coalesce(
		(SELECT min(scheduled_at) FROM river_job WHERE state = 'available' AND queue = $1 AND priority = $2 AND kind = $3 AND scheduled_at < $5),
		(SELECT max(scheduled_at) FROM river_job WHERE state = 'running' AND queue = $1 AND priority = $2 AND kind = $3 AND scheduled_at < $5),
		$4)`, queue, int16(priority), ticket{}.Kind(), origin, horizon).Scan(&at)
	return max(0, placeAt(at)), err
}

// A numbered chunk is one for which a ticket is made.
type numbered struct{ n, place int64 }

// maxTickets is how many tickets are written at once.
const maxTickets = 2000

// addTickets makes tickets for chunks of a run.
func addTickets(ctx context.Context, client *river.Client[pgx.Tx], tx pgx.Tx, run, queue string, priority Priority, chunks []numbered) error {
	for len(chunks) > 0 {
		n := min(len(chunks), maxTickets)
		params := make([]river.InsertManyParams, n)
		for i, c := range chunks[:n] {
			params[i] = river.InsertManyParams{Args: ticket{Run: run, Chunk: c.n}, InsertOpts: &river.InsertOpts{
				Queue: queue, Priority: int(priority), ScheduledAt: timeAt(c.place), MaxAttempts: maxAttempts,
			}}
		}
		if _, err := client.InsertManyFastTx(ctx, tx, params); err != nil {
			return err
		}
		chunks = chunks[n:]
	}
	return nil
}

// maxAttempts is how often a ticket is tried when the worker cannot even begin. River
// gives it up then, and housekeeping makes another.
const maxAttempts = 100

// dropTickets removes the tickets of a run that nobody works on.
func dropTickets(ctx context.Context, tx pgx.Tx, run, queue string) error {
	_, err := tx.Exec(ctx, `DELETE FROM river_job WHERE kind = $1 AND queue = $2 AND args @> jsonb_build_object('run', $3::text)
		AND state IN ('available', 'scheduled', 'retryable', 'pending')`, ticket{}.Kind(), queue, run)
	return err
}

// replace gives tickets that River tried again, and that have a real time therefore,
// the places of their chunks.
const replace = `UPDATE river_job j SET scheduled_at = $2::timestamptz + c.place * interval '1 microsecond' FROM queue_chunks c
	WHERE c.run = $1 AND j.kind = $4 AND j.state = 'available' AND j.scheduled_at >= $3 AND j.args @> jsonb_build_object('run', $1::text, 'chunk', c.n)`

// ticketless are chunks that nobody has and for which there is no ticket. There should be
// none but for those of a run that is resumed.
const ticketless = `SELECT c.n, c.place FROM queue_chunks c WHERE c.run = $1 AND c.worker IS NULL
	AND c.n NOT IN (SELECT (j.args->>'chunk')::bigint FROM river_job j JOIN queue_runs r ON r.queue = j.queue
		WHERE r.run = $1 AND j.kind = $2 AND j.args->>'run' = $1 AND j.state IN ('available', 'running', 'scheduled', 'retryable'))
	ORDER BY c.n`

// untouched are the same when all tickets of the run were dropped, which is faster.
const untouched = `SELECT c.n, c.place FROM queue_chunks c WHERE c.run = $1 AND c.worker IS NULL ORDER BY c.n`

// chunksOf returns chunks that a query selects.
func chunksOf(ctx context.Context, tx pgx.Tx, query string, args ...any) ([]numbered, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c numbered, err error) {
		err = row.Scan(&c.n, &c.place)
		return c, err
	})
}
