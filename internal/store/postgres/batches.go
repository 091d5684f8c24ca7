package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// A line is a line of a batch, with the columns of its reply.
type line struct {
	store.BatchLine
	columns store.ReplyColumns
}

// PutBatch implements [store.Batches].
func (s *Store) PutBatch(ctx context.Context, runID string, b store.Batch, list []store.BatchLine) error {
	lines := make([]line, len(list))
	for i, l := range list {
		err := store.CheckBatchLine(l)
		if lines[i].BatchLine = l; err == nil && l.Reply != nil {
			var body string
			body, err = store.EncodeReply(*l.Reply)
			lines[i].columns = replyColumns(l.Reply, body)
		}
		if err != nil {
			return s.explain("put a batch into", err)
		}
	}
	// Of each key the last counts.
	slices.Reverse(lines)
	lines = unique(lines, func(x, y line) int { return strings.Compare(pack(x.Key), pack(y.Key)) })
	return s.transactRun(ctx, "put a batch into", runID, func(ctx context.Context, tx pgx.Tx, run int64) error {
		var n int64
		err := tx.QueryRow(ctx, `INSERT INTO batches (run, key, id, state, lines, most_micros, planned)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (run, key) DO UPDATE SET id = excluded.id, state = excluded.state,
			lines = excluded.lines, most_micros = excluded.most_micros, planned = excluded.planned RETURNING n`,
			run, pack(b.Key), pack(b.ID), string(b.State), b.Lines, b.MostMicros, store.Nanos(b.Planned)).Scan(&n)
		if err != nil {
			return err
		}
		for part := range parts(lines, func(l line) int { return len(unpackNull(l.columns.Body)) }) {
			if err := putLines(ctx, tx, run, n, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// putLines adds or updates lines. A line of another batch is not changed, which is how it
// is detected.
func putLines(ctx context.Context, tx pgx.Tx, run, batch int64, lines []line) error {
	var keys []string
	var bodies, kinds, details []*string
	var latencies, attempts, costs []*int64
	var unpriced []*bool
	var passing []bool
	for _, l := range lines {
		c := l.columns
		var kind, detail *string
		if f := l.Failure; f != nil {
			kind, detail = new(pack(string(f.Kind))), new(pack(f.Detail))
		}
		keys, bodies, passing = append(keys, pack(l.Key)), append(bodies, c.Body), append(passing, l.Passing)
		latencies, attempts, costs = append(latencies, c.Latency), append(attempts, c.Attempts), append(costs, c.Cost)
		unpriced, kinds, details = append(unpriced, c.Unpriced), append(kinds, kind), append(details, detail)
	}
	rows, err := tx.Query(ctx, `INSERT INTO batch_lines AS l
		(run, key, batch, body, latency, attempts, cost_micros, unpriced, kind, detail, passing)
		SELECT $1, u.key, $2, u.body, u.latency, u.attempts, u.cost_micros, u.unpriced, u.kind, u.detail, u.passing
		FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::boolean[], $9::text[], $10::text[], $11::boolean[])
			AS u (key, body, latency, attempts, cost_micros, unpriced, kind, detail, passing)
		ON CONFLICT (run, key) DO UPDATE SET body = excluded.body,
		latency = excluded.latency, attempts = excluded.attempts, cost_micros = excluded.cost_micros,
		unpriced = excluded.unpriced, kind = excluded.kind, detail = excluded.detail, passing = excluded.passing
		WHERE l.batch = excluded.batch RETURNING key`,
		run, batch, keys, bodies, latencies, attempts, costs, unpriced, kinds, details, passing)
	if err != nil {
		return err
	}
	put, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(put) == len(lines) {
		return err
	}
	for _, l := range lines {
		if !slices.Contains(put, pack(l.Key)) {
			return fmt.Errorf("line %q: %w", l.Key, store.ErrLineTaken)
		}
	}
	return nil
}

// Batches implements [store.Batches].
func (s *Store) Batches(ctx context.Context, runID string) ([]store.Batch, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, s.explain("read", err)
	}
	list, err := collect(ctx, s, func(row pgx.Row) (b store.Batch, err error) {
		var planned *int64
		err = row.Scan(&b.Key, &b.ID, &b.State, &b.Lines, &b.MostMicros, &planned, &b.Replies, &b.Failed, &b.OwedMicros)
		b.Key, b.ID, b.Planned = unpack(b.Key), unpack(b.ID), store.TimeOf(planned)
		return b, err
	}, `SELECT b.key, b.id, b.state, b.lines, b.most_micros, b.planned,
		count(l.body), count(l.kind), coalesce(sum(l.cost_micros) FILTER (WHERE NOT l.taken), 0)::bigint
		FROM batches b LEFT JOIN batch_lines l ON l.batch = b.n WHERE b.run = $1 GROUP BY b.n ORDER BY b.n`, run)
	return list, s.explain("read", err)
}

// BatchLine implements [store.Batches].
func (s *Store) BatchLine(ctx context.Context, runID, key string) (l store.BatchLine, ok bool, err error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return store.BatchLine{}, false, s.explain("read", err)
	}
	err = s.retry(ctx, func(ctx context.Context) error {
		l, err = scanLine(s.pool.QueryRow(ctx, selectLine+` WHERE l.run = $1 AND l.key = $2`, run, pack(key)))
		if ok = err == nil; errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return err
	})
	return l, ok, s.explain("read", err)
}

// selectLine is the query that scanLine reads.
const selectLine = `SELECT l.key, b.key, b.state, l.body, l.latency, l.attempts, l.cost_micros, l.unpriced,
	l.kind, l.detail, l.passing, l.taken FROM batch_lines l JOIN batches b ON b.n = l.batch`

// scanLine reads a line.
func scanLine(row pgx.Row) (store.BatchLine, error) {
	var l store.BatchLine
	var c store.ReplyColumns
	var kind, detail *string
	err := row.Scan(&l.Key, &l.Batch, &l.State, &c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &kind, &detail, &l.Passing, &l.Taken)
	if err != nil {
		return store.BatchLine{}, err
	}
	l.Key, l.Batch = unpack(l.Key), unpack(l.Batch)
	if kind != nil {
		l.Failure = &deem.Failure{Kind: deem.Kind(unpack(*kind)), Detail: unpackNull(detail)}
	}
	l.Reply, err = c.Reply(l.Key, false)
	return l, err
}

// DropBatch implements [store.Batches].
func (s *Store) DropBatch(ctx context.Context, runID, key string) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return s.explain("drop a batch from", err)
	}
	return s.once(ctx, "drop a batch from", func(b *pgx.Batch) {
		b.Queue(`DELETE FROM batch_lines WHERE batch IN (SELECT n FROM batches WHERE run = $1 AND key = $2)`, run, pack(key))
		b.Queue(`DELETE FROM batches WHERE run = $1 AND key = $2`, run, pack(key))
	})
}
