package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"deem/internal/store"
)

// Begin implements [store.Store].
func (s *Store) Begin(ctx context.Context, spec store.Spec, fresh bool) (run store.Run, resumed bool, err error) {
	if s.readOnly {
		return store.Run{}, false, s.explain("begin a run in", store.ErrReadOnly)
	}
	spec, err = spec.Clean()
	if err != nil {
		return store.Run{}, false, err
	}
	// The claim comes first: its holder has exclusive access to the runs of this key, so
	// that two processes cannot both find that there is none.
	var c *claim
	err = s.retry(ctx, func(ctx context.Context) error {
		c, err = s.claims.take(ctx, spec.Key())
		return err
	})
	if errors.Is(err, store.ErrBusy) {
		return store.Run{}, false, err
	}
	if err != nil {
		return store.Run{}, false, s.explain("begin a run in", err)
	}
	err = s.transact(ctx, "begin a run in", func(ctx context.Context, tx pgx.Tx) error {
		var n int64
		if !fresh {
			if err := tx.QueryRow(ctx, newestRun, spec.Key()).Scan(&n); err != nil {
				return err
			}
		}
		if resumed = n != 0; resumed {
			// The earlier holder of the claim is gone.
			return errors.Join(adopt(ctx, tx, n, spec), leave(ctx, tx, n, store.Claimant))
		}
		now := s.opts.Now()
		run := store.Run{Spec: spec, State: store.Open, Created: now, Updated: now}
		for attempt := 0; ; attempt++ {
			run.ID = store.NewID(now, attempt)
			if added, err := addRun(ctx, tx, run); err != nil || added {
				return err
			}
		}
	})
	if err == nil {
		// Only the holder of the claim adds runs with its key, so the newest of them is the one
		// begun here, even if the server's answer was lost and is requested again.
		err = s.retry(ctx, func(ctx context.Context) error {
			run, err = scanRun(s.pool.QueryRow(ctx, selectRun+` WHERE r.n = (`+newestRun+`)`, spec.Key()))
			return err
		})
		err = s.explain("begin a run in", errors.Join(err, s.forget(ctx)))
	}
	if err != nil {
		return store.Run{}, false, errors.Join(err, s.claims.giveUp(c))
	}
	s.claims.mu.Lock()
	s.claims.runs[run.ID] = c
	s.claims.mu.Unlock()
	return run, resumed, nil
}

const newestRun = `SELECT coalesce(max(n), 0) FROM runs WHERE key = $1 AND deleted IS NULL`

// adopt takes over what is not part of the key, except the dataset names of a run that has
// records.
func adopt(ctx context.Context, tx pgx.Tx, n int64, spec store.Spec) error {
	names, err := json.Marshal(spec.Dataset.Names)
	if err != nil {
		return err
	}
	return changeRun(ctx, tx, n, `UPDATE runs SET settings = $3, max_micros = NULL, asked = nextval('runs_asked'), dataset_names =
		CASE WHEN EXISTS (SELECT 1 FROM counts WHERE run = $1 AND records > 0) THEN dataset_names ELSE $2 END WHERE n = $1`,
		string(names), packNull(string(spec.Settings)))
}

// changeRun changes sealed columns of a run. The first argument of the statement is n.
func changeRun(ctx context.Context, tx pgx.Tx, n int64, statement string, args ...any) error {
	if _, err := tx.Exec(ctx, `SELECT FROM runs WHERE n = $1 FOR UPDATE`, n); err != nil {
		return err
	}
	if _, err := scanRun(tx.QueryRow(ctx, selectRun+` WHERE r.n = $1`, n)); err != nil {
		return err // A damaged row must not get a new seal.
	}
	if _, err := tx.Exec(ctx, statement, append([]any{n}, args...)...); err != nil {
		return err
	}
	return sealRun(ctx, tx, n)
}

// sealRun seals a run after a change.
func sealRun(ctx context.Context, tx pgx.Tx, n int64) error {
	var r runRow
	if err := tx.QueryRow(ctx, `SELECT `+runColumns+` FROM runs r WHERE n = $1`, n).Scan(r.targets()...); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE runs SET sum = $2 WHERE n = $1`, n, r.seal())
	return err
}

// addRun adds a run unchanged, without its counts, unless its id is taken.
func addRun(ctx context.Context, tx pgx.Tx, run store.Run) (added bool, err error) {
	names, err := json.Marshal(run.Dataset.Names)
	if err != nil {
		return false, err
	}
	about, err := json.Marshal(run.About)
	if err != nil {
		return false, err
	}
	var n int64
	err = tx.QueryRow(ctx, `INSERT INTO runs
		(id, key, state, created, updated, judge_name, judge_hash, judge_identity, judge_rule,
		model, endpoint, dataset_names, dataset_hash, dataset_items, trials, settings, about, probes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT (id) DO NOTHING RETURNING n`,
		pack(run.ID), run.Key(), string(run.State), run.Created.UnixNano(), run.Updated.UnixNano(),
		pack(run.Judge.Name), pack(run.Judge.Hash), packNull(string(run.Judge.Identity)), run.Judge.Rule,
		pack(run.Model), pack(run.Endpoint), string(names), pack(run.Dataset.Hash), run.Dataset.Items, run.Trials,
		packNull(string(run.Settings)), string(about), run.Probes()).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, sealRun(ctx, tx, n)
}

// Finish implements [store.Store].
func (s *Store) Finish(ctx context.Context, runID string) error {
	err := s.transactRun(ctx, "finish a run in", runID, func(ctx context.Context, tx pgx.Tx, n int64) error {
		return changeRun(ctx, tx, n, `UPDATE runs SET updated = CASE WHEN state = 'done' THEN updated ELSE $2 END, state = 'done' WHERE n = $1`,
			s.opts.Now().UnixNano())
	})
	if err != nil {
		return err
	}
	// Postgres updates its statistics by itself, but after some minutes. With them it plans
	// well when the run is browsed.
	if run, err := s.Run(ctx, runID); err == nil && run.Records >= learnRecords {
		_, _ = s.pool.Exec(ctx, `ANALYZE records`) // Without it views are only slower.
	}
	return s.Release(runID)
}

// learnRecords is the number of records from which updating the statistics pays off.
const learnRecords = 2000

// Release implements [store.Store].
func (s *Store) Release(runID string) error {
	s.claims.mu.Lock()
	c, ok := s.claims.runs[runID]
	delete(s.claims.runs, runID)
	s.claims.mu.Unlock()
	if !ok {
		return nil
	}
	return s.explain("release a run of", s.claims.giveUp(c))
}

// Run implements [store.Store].
func (s *Store) Run(ctx context.Context, ref string) (store.Run, error) {
	var ids, counted []string
	err := s.retry(ctx, func(ctx context.Context) error {
		ids, counted = nil, nil
		rows, err := s.pool.Query(ctx, `SELECT id, NOT probes AND coalesce((SELECT sum(records) > sum(unjudged) OR state = 'done' AND sum(records) > 0
				FROM counts WHERE run = n), false)
			FROM runs WHERE deleted IS NULL ORDER BY asked DESC`)
		if err != nil {
			return err
		}
		var id string
		var counts bool
		_, err = pgx.ForEachRow(rows, []any{&id, &counts}, func() error {
			if ids = append(ids, id); counts {
				counted = append(counted, id)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return store.Run{}, s.explain("read", err)
	}
	id, err := store.Resolve(ref, ids, counted)
	if err != nil {
		return store.Run{}, err
	}
	var run store.Run
	err = s.retry(ctx, func(ctx context.Context) error {
		run, err = scanRun(s.pool.QueryRow(ctx, selectRun+` WHERE r.id = $1`, id))
		return err
	})
	return run, s.explain("read", err)
}

// pageRuns is how many runs are read at once.
const pageRuns = 64

// Runs implements [store.Store].
func (s *Store) Runs(ctx context.Context) iter.Seq2[store.Run, error] {
	return s.runsWhere(ctx, "r.deleted IS NULL")
}

func (s *Store) runsWhere(ctx context.Context, condition string) iter.Seq2[store.Run, error] {
	return store.Pages(pageRuns, func(last store.Run) ([]store.Run, error) {
		page, err := collect(ctx, s, scanRun,
			selectRun+` WHERE `+condition+` AND ($1 = '' OR r.id < $1) ORDER BY r.id DESC LIMIT $2`, pack(last.ID), pageRuns)
		return page, s.explain("read", err)
	})
}

// runRow contains the sealed columns of a run, texts packed, and its seal.
type runRow struct {
	n, created, updated, items, trials               int64
	id, key, judge, judgeHash, model, endpoint, hash string
	identity, names, settings                        *string
	rule, probes                                     bool
	sum                                              []byte
}

const runColumns = `r.n, r.id, r.key, r.created, r.judge_name, r.judge_hash, r.judge_identity, r.judge_rule,
	r.model, r.endpoint, r.dataset_names, r.dataset_hash, r.dataset_items, r.trials, r.settings, r.updated, r.probes, r.sum`

// targets returns the scan targets of runColumns.
func (r *runRow) targets() []any {
	return []any{
		&r.n, &r.id, &r.key, &r.created, &r.judge, &r.judgeHash, &r.identity, &r.rule,
		&r.model, &r.endpoint, &r.names, &r.hash, &r.items, &r.trials, &r.settings, &r.updated, &r.probes, &r.sum,
	}
}

func (r *runRow) seal() []byte {
	return store.Seal([]any{
		r.n, r.id, r.key, r.created, r.judge, r.judgeHash, store.Null(r.identity), r.rule,
		r.model, r.endpoint, store.Null(r.names), r.hash, r.items, r.trials, store.Null(r.settings), r.updated, r.probes,
	})
}

const selectRun = `SELECT ` + runColumns + `, r.state, r.asked, r.about, r.deleted, greatest(r.updated, c.updated),
	coalesce(c.records, 0), coalesce(c.unjudged, 0), coalesce(c.cost_micros, 0),
	r.max_micros, r.factor, ` + setAside + `
	FROM runs r LEFT JOIN LATERAL (SELECT sum(records)::bigint AS records, sum(unjudged)::bigint AS unjudged,
	sum(cost_micros)::bigint AS cost_micros, max(updated) AS updated FROM counts WHERE run = r.n) c ON true`

// scanRun reads a row of selectRun.
func scanRun(row pgx.Row) (store.Run, error) {
	var run store.Run
	var r runRow
	var about *string
	var deleted *int64
	var updated int64
	err := row.Scan(append(r.targets(), &run.State, &run.Asked, &about, &deleted, &updated, &run.Records, &run.Unjudged, &run.CostMicros,
		&run.MaxMicros, &run.Factor, &run.SetAsideMicros)...)
	if err != nil {
		return store.Run{}, err
	}
	if !bytes.Equal(r.sum, r.seal()) {
		return store.Run{}, altered("run %q", unpack(r.id))
	}
	run.ID, run.Model, run.Endpoint = unpack(r.id), unpack(r.model), unpack(r.endpoint)
	run.Judge = store.JudgeSpec{Name: unpack(r.judge), Hash: unpack(r.judgeHash), Identity: unpackJSON(r.identity), Rule: r.rule}
	run.Dataset = store.DatasetSpec{Hash: unpack(r.hash), Items: int(r.items)}
	run.Trials, run.Settings = int(r.trials), unpackJSON(r.settings)
	run.Created, run.Updated = store.TimeOf(&r.created), store.TimeOf(&updated)
	if r.names != nil {
		err = json.Unmarshal([]byte(*r.names), &run.Dataset.Names)
	}
	if about != nil {
		err = errors.Join(err, json.Unmarshal([]byte(*about), &run.About))
	}
	run.About.Deleted = store.TimeOf(deleted)
	return run, err
}

// A querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// number returns the number of a run, which other tables refer to.
func (s *Store) number(ctx context.Context, runID string) (n int64, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		n, err = s.numberIn(ctx, s.pool, runID)
		return err
	})
	if err == nil {
		s.numbers.Store(runID, n)
	}
	return n, err
}

// numberIn is number in a transaction, whose own run may be rolled back.
func (s *Store) numberIn(ctx context.Context, q querier, runID string) (int64, error) {
	if n, ok := s.numbers.Load(runID); ok {
		return n.(int64), nil //nolint:forcetypeassert // Only number stores.
	}
	var n int64
	err := q.QueryRow(ctx, `SELECT n FROM runs WHERE id = $1`, pack(runID)).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, store.NotFound(runID)
	}
	return n, err
}
