package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"deem/internal/store"
)

// Begin implements [store.Store].
func (s *Store) Begin(ctx context.Context, spec store.Spec, fresh bool) (run store.Run, resumed bool, err error) {
	if s.write == nil {
		return store.Run{}, false, s.explain("begin a run in", store.ErrReadOnly)
	}
	spec, err = spec.Clean()
	if err != nil {
		return store.Run{}, false, err
	}
	// The claim comes first: its holder has exclusive access to the runs of this key, so
	// that two processes cannot both find that there is none.
	c, err := s.claimKey(spec.Key())
	if err != nil {
		return store.Run{}, false, err
	}
	err = s.transact(ctx, "begin a run in", func(ctx context.Context, w *writer) (err error) {
		var n int64
		if !fresh {
			err := w.conn.QueryRowContext(ctx, `SELECT coalesce(max(n), 0) FROM runs WHERE key = ? AND deleted IS NULL`, spec.Key()).Scan(&n)
			if err != nil {
				return err
			}
		}
		if resumed = n != 0; resumed {
			// The earlier holder of the claim is gone.
			if err := errors.Join(adopt(ctx, w.conn, n, spec), leave(ctx, w.conn, n, store.Claimant)); err != nil {
				return err
			}
		}
		now := s.opts.Now()
		run = store.Run{Spec: spec, State: store.Open, Created: now, Updated: now}
		for attempt := 0; n == 0; attempt++ {
			run.ID = store.NewID(now, attempt)
			if n, err = addRun(ctx, w.conn, run); err != nil {
				return err
			}
		}
		run, err = scanRun(w.conn.QueryRowContext(ctx, selectRun+` WHERE n = ?`, n))
		return err
	})
	if err != nil {
		return store.Run{}, false, errors.Join(err, c.release())
	}
	s.mu.Lock()
	s.claims[run.ID] = c
	s.mu.Unlock()
	return run, resumed, nil
}

// adopt takes over what is not part of the key, except the dataset names of a run that has
// records.
func adopt(ctx context.Context, conn *sql.Conn, n int64, spec store.Spec) error {
	if _, err := scanRun(conn.QueryRowContext(ctx, selectRun+` WHERE n = ?`, n)); err != nil {
		return err // A damaged row must not get a new seal.
	}
	names, err := json.Marshal(spec.Dataset.Names)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `UPDATE runs
		SET dataset_names = CASE WHEN records = 0 THEN ? ELSE dataset_names END, settings = ?, max_micros = NULL, asked = `+nextAsked+` WHERE n = ?`,
		string(names), nullText(string(spec.Settings)), n)
	if err == nil {
		err = sealRun(ctx, conn, n)
	}
	return err
}

// nextAsked is the number of a run that is begun now. Writes are serialized, so no other
// run has it.
const nextAsked = `(SELECT coalesce(max(asked), 0) + 1 FROM runs)`

// addRun adds a run unchanged, without its counts, and returns its number, or 0 if its id
// is taken.
func addRun(ctx context.Context, conn *sql.Conn, run store.Run) (int64, error) {
	names, err := json.Marshal(run.Dataset.Names)
	if err != nil {
		return 0, err
	}
	about, err := json.Marshal(run.About)
	if err != nil {
		return 0, err
	}
	res, err := conn.ExecContext(ctx, `INSERT INTO runs
		(id, key, state, created, updated, judge_name, judge_hash, judge_identity, judge_rule,
		model, endpoint, dataset_names, dataset_hash, dataset_items, trials, settings, about, probes, asked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, `+nextAsked+`) ON CONFLICT (id) DO NOTHING`,
		run.ID, run.Key(), string(run.State), run.Created.UnixNano(), run.Updated.UnixNano(),
		run.Judge.Name, run.Judge.Hash, nullText(string(run.Judge.Identity)), run.Judge.Rule,
		run.Model, run.Endpoint, string(names), run.Dataset.Hash, run.Dataset.Items, run.Trials,
		nullText(string(run.Settings)), string(about), run.Probes())
	if added, err := wroteRow(res, err); err != nil || !added {
		return 0, err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	return n, sealRun(ctx, conn, n)
}

// sealRun seals a run after a change.
func sealRun(ctx context.Context, conn *sql.Conn, n int64) error {
	_, err := conn.ExecContext(ctx, `UPDATE runs SET sum = deem_seal(`+runSealed+`) WHERE n = ?`, n)
	return err
}

// Finish implements [store.Store].
func (s *Store) Finish(ctx context.Context, runID string) error {
	err := s.transact(ctx, "finish a run in", func(ctx context.Context, w *writer) error {
		found, err := wroteRow(w.conn.ExecContext(ctx, `UPDATE runs
			SET updated = CASE WHEN state = ?1 THEN updated ELSE ?2 END, state = ?1 WHERE id = ?3`,
			string(store.Done), s.opts.Now().UnixNano(), runID))
		if err == nil && !found {
			err = store.NotFound(runID)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.Release(runID)
}

// Release implements [store.Store].
func (s *Store) Release(runID string) error {
	s.mu.Lock()
	c, ok := s.claims[runID]
	delete(s.claims, runID)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	return c.release()
}

// Run implements [store.Store].
func (s *Store) Run(ctx context.Context, ref string) (store.Run, error) {
	var counted []string // the ids of runs for which [store.Run.Counts] is true
	ids, err := collect(ctx, s, func(row scanner) (id string, err error) {
		var counts bool
		if err = row.Scan(&id, &counts); counts {
			counted = append(counted, id)
		}
		return id, err
	}, `SELECT id, NOT probes AND (records > unjudged OR state = 'done' AND records > 0) FROM runs WHERE deleted IS NULL ORDER BY asked DESC`)
	if err != nil {
		return store.Run{}, s.explain("read", err)
	}
	id, err := store.Resolve(ref, ids, counted)
	if err != nil {
		return store.Run{}, err
	}
	run, err := scanRun(s.read.QueryRowContext(ctx, runByID, id))
	return run, s.explain("read", err)
}

// Runs implements [store.Store].
func (s *Store) Runs(ctx context.Context) iter.Seq2[store.Run, error] {
	return s.runsWhere(ctx, "deleted IS NULL")
}

func (s *Store) runsWhere(ctx context.Context, condition string) iter.Seq2[store.Run, error] {
	return store.Pages(pageRuns, func(last store.Run) ([]store.Run, error) {
		page, err := collect(ctx, s, scanRun,
			selectRun+` WHERE `+condition+` AND (?1 = '' OR id < ?1) ORDER BY id DESC LIMIT ?2`, last.ID, pageRuns)
		return page, s.explain("read", err)
	})
}

var selectRun = `SELECT ` + soundRun + `, id, state, created, updated, asked, judge_name, judge_hash, judge_identity, judge_rule,
	model, endpoint, dataset_names, dataset_hash, dataset_items, trials, settings,
	records, unjudged, cost_micros, about, deleted, max_micros, factor, ` + setAside + ` FROM runs`

var runByID = selectRun + ` WHERE id = ?`

// scanRun reads a row of selectRun.
func scanRun(row scanner) (store.Run, error) {
	var run store.Run
	var created, updated int64
	var names, about []byte
	var deleted *int64
	var sound bool
	err := row.Scan(&sound, &run.ID, &run.State, &created, &updated, &run.Asked,
		&run.Judge.Name, &run.Judge.Hash, (*[]byte)(&run.Judge.Identity), &run.Judge.Rule,
		&run.Model, &run.Endpoint, &names, &run.Dataset.Hash, &run.Dataset.Items, &run.Trials, (*[]byte)(&run.Settings),
		&run.Records, &run.Unjudged, &run.CostMicros, &about, &deleted, &run.MaxMicros, &run.Factor, &run.SetAsideMicros)
	if err != nil {
		return store.Run{}, err
	}
	if !sound {
		return store.Run{}, altered("run %q", run.ID)
	}
	run.Created, run.Updated = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC()
	if names != nil {
		err = json.Unmarshal(names, &run.Dataset.Names)
	}
	if about != nil {
		err = errors.Join(err, json.Unmarshal(about, &run.About))
	}
	run.About.Deleted = store.TimeOf(deleted)
	return run, err
}

// number returns the number of a run, which other tables refer to.
func (s *Store) number(ctx context.Context, runID string) (int64, error) {
	if n, ok := s.numbers.Load(runID); ok {
		return n.(int64), nil //nolint:forcetypeassert // Only this function stores.
	}
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT n FROM runs WHERE id = ?`, runID).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.NotFound(runID)
	}
	if err == nil {
		s.numbers.Store(runID, n)
	}
	return n, err
}
