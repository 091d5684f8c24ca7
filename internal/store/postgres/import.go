package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// Import implements [store.Database].
func (s *Store) Import(ctx context.Context, run store.Run) (added bool, err error) {
	if run.Spec, err = run.Clean(); err != nil {
		return false, err
	}
	err = s.transact(ctx, "import a run into", func(ctx context.Context, tx pgx.Tx) error {
		added, err = addRun(ctx, tx, run)
		return err
	})
	return added, err
}

// PutReplies implements [store.Database].
func (s *Store) PutReplies(ctx context.Context, list []deem.Reply) error {
	var a appender
	for _, r := range list {
		if r.Key == "" {
			continue
		}
		said, err := store.EncodeReply(r)
		if err != nil {
			return s.explain("import replies into", err)
		}
		a.replies = append(a.replies, keyedReply{&r, said})
	}
	if len(a.replies) == 0 {
		return nil
	}
	a.replies = unique(a.replies, byReplyKey)
	return s.once(ctx, "import replies into", a.queueReplies)
}

// Imported implements [store.Database].
func (s *Store) Imported(ctx context.Context, run store.Run) error {
	return s.transactRun(ctx, "import a run into", run.ID, func(ctx context.Context, tx pgx.Tx, n int64) error {
		if _, err := tx.Exec(ctx, `UPDATE counts SET updated = $2 WHERE run = $1`, n, run.Updated.UnixNano()); err != nil {
			return err
		}
		if run.SetAsideMicros > 0 {
			_, err := tx.Exec(ctx, `INSERT INTO money (run, holder, spent, reserved) VALUES ($1, '', $2, 0)
				ON CONFLICT (run, holder) DO UPDATE SET spent = excluded.spent`, n, run.SetAsideMicros)
			if err != nil {
				return err
			}
		}
		return changeRun(ctx, tx, n, `UPDATE runs SET state = $2, updated = $3, max_micros = $4, factor = $5 WHERE n = $1`,
			string(run.State), run.Updated.UnixNano(), run.MaxMicros, run.Factor)
	})
}

// BatchLines implements [store.Database].
func (s *Store) BatchLines(ctx context.Context, runID, batch string) iter.Seq2[store.BatchLine, error] {
	return store.Pages(pageRows, func(last store.BatchLine) ([]store.BatchLine, error) {
		run, err := s.number(ctx, runID)
		if err != nil {
			return nil, s.explain("read", err)
		}
		page, err := collect(ctx, s, scanLine, selectLine+` WHERE b.run = $1 AND b.key = $2 AND l.key > $3 ORDER BY l.key LIMIT $4`,
			run, pack(batch), pack(last.Key), pageRows)
		return page, s.explain("read", err)
	})
}
