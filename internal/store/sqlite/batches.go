package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"deem"
	"deem/internal/store"
)

// PutBatch implements [store.Batches].
func (s *Store) PutBatch(ctx context.Context, runID string, b store.Batch, lines []store.BatchLine) error {
	bodies := make([]string, len(lines))
	for i, l := range lines {
		err := store.CheckBatchLine(l)
		if err == nil && l.Reply != nil {
			bodies[i], err = store.EncodeReply(*l.Reply)
		}
		if err != nil {
			return s.explain("put a batch into", err)
		}
	}
	return s.transactRun(ctx, "put a batch into", runID, func(ctx context.Context, w *writer, run int64) error {
		var n int64
		err := w.conn.QueryRowContext(ctx, `INSERT INTO batches (run, key, id, state, lines, most_micros, planned)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, key) DO UPDATE SET id = excluded.id, state = excluded.state,
			lines = excluded.lines, most_micros = excluded.most_micros, planned = excluded.planned RETURNING n`,
			run, text(b.Key), text(b.ID), string(b.State), b.Lines, b.MostMicros, store.Nanos(b.Planned)).Scan(&n)
		if err != nil || len(lines) == 0 {
			return err
		}
		// A line of another batch is not changed, which is how it is detected.
		st, err := w.conn.PrepareContext(ctx, `INSERT INTO batch_lines
			(run, key, batch, body, latency, attempts, cost_micros, unpriced, kind, detail, passing)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, key) DO UPDATE SET body = excluded.body,
			latency = excluded.latency, attempts = excluded.attempts, cost_micros = excluded.cost_micros,
			unpriced = excluded.unpriced, kind = excluded.kind, detail = excluded.detail, passing = excluded.passing
			WHERE batch = excluded.batch`)
		if err != nil {
			return err
		}
		for i, l := range lines {
			args := []any{run, text(l.Key), n, nil, nil, nil, nil, nil, nil, nil, l.Passing}
			if r := l.Reply; r != nil {
				args[3], args[4], args[5], args[6], args[7] = bodies[i], int64(r.Latency), r.Attempts, r.CostMicros, r.Unpriced
			}
			if f := l.Failure; f != nil {
				args[8], args[9] = text(string(f.Kind)), text(f.Detail)
			}
			put, err := wroteRow(st.ExecContext(ctx, args...))
			if err == nil && !put {
				err = fmt.Errorf("line %q: %w", l.Key, store.ErrLineTaken)
			}
			if err != nil {
				return errors.Join(err, st.Close())
			}
		}
		return st.Close()
	})
}

// Batches implements [store.Batches].
func (s *Store) Batches(ctx context.Context, runID string) ([]store.Batch, error) {
	run, err := s.number(ctx, runID)
	if err != nil {
		return nil, s.explain("read", err)
	}
	list, err := collect(ctx, s, func(row scanner) (b store.Batch, err error) {
		var planned *int64
		err = row.Scan(&b.Key, &b.ID, &b.State, &b.Lines, &b.MostMicros, &planned, &b.Replies, &b.Failed, &b.OwedMicros)
		b.Planned = store.TimeOf(planned)
		return b, err
	}, `SELECT b.key, b.id, b.state, b.lines, b.most_micros, b.planned,
		count(l.body), count(l.kind), coalesce(sum(CASE WHEN l.taken THEN 0 ELSE l.cost_micros END), 0)
		FROM batches b LEFT JOIN batch_lines l ON l.batch = b.n WHERE b.run = ? GROUP BY b.n ORDER BY b.n`, run)
	return list, s.explain("read", err)
}

// BatchLine implements [store.Batches].
func (s *Store) BatchLine(ctx context.Context, runID, key string) (store.BatchLine, bool, error) {
	if err := ctx.Err(); err != nil {
		return store.BatchLine{}, false, err
	}
	ctx = context.WithoutCancel(ctx) // As in Status.
	run, err := s.number(ctx, runID)
	if err != nil {
		return store.BatchLine{}, false, s.explain("read", err)
	}
	l, err := scanLine(s.query.line.QueryRowContext(ctx, run, text(key)))
	if errors.Is(err, sql.ErrNoRows) {
		return store.BatchLine{}, false, nil
	}
	return l, err == nil, s.explain("read", err)
}

// selectLine is the beginning of queries that scanLine reads.
const selectLine = `SELECT l.key, b.key, b.state, l.body, l.latency, l.attempts, l.cost_micros, l.unpriced,
	l.kind, l.detail, l.passing, l.taken FROM batch_lines l JOIN batches b ON b.n = l.batch`

// scanLine reads a line.
func scanLine(row scanner) (store.BatchLine, error) {
	var l store.BatchLine
	var c store.ReplyColumns
	var kind, detail sql.NullString
	err := row.Scan(&l.Key, &l.Batch, &l.State, &c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &kind, &detail, &l.Passing, &l.Taken)
	if err != nil {
		return store.BatchLine{}, err
	}
	if kind.Valid {
		l.Failure = &deem.Failure{Kind: deem.Kind(kind.String), Detail: detail.String}
	}
	l.Reply, err = c.Reply(l.Key, false)
	return l, err
}

// DropBatch implements [store.Batches].
func (s *Store) DropBatch(ctx context.Context, runID, key string) error {
	return s.transactRun(ctx, "drop a batch from", runID, func(ctx context.Context, w *writer, run int64) error {
		_, err := w.conn.ExecContext(ctx, `DELETE FROM batch_lines
			WHERE batch IN (SELECT n FROM batches WHERE run = ? AND key = ?)`, run, text(key))
		if err != nil {
			return err
		}
		_, err = w.conn.ExecContext(ctx, `DELETE FROM batches WHERE run = ? AND key = ?`, run, text(key))
		return err
	})
}
