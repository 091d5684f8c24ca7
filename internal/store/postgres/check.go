package postgres

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"deem"
	"deem/internal/store"
)

// Health is the result of [Check].
type Health struct {
	Path    string `json:"path"`   // the URL, without a password
	Server  string `json:"server"` // version of Postgres
	Bytes   int64  `json:"bytes"`  // of the database
	Schema  int64  `json:"schema"` // version of the schema; 0 if there is none yet
	Latest  int64  `json:"latest"` // version that this deem writes
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // of all runs
}

// Check reports whether runs can be stored in the database at url: it can be reached, and
// its schema is known to this deem, or is missing and may be created. It reads every run,
// record, reply and label as a report would, and recounts. It changes nothing.
func Check(ctx context.Context, url string, o Options) (Health, error) {
	s, err := connect(ctx, url, o, true)
	if err != nil {
		return Health{Latest: runTables.latest}, err
	}
	h := Health{Path: s.path, Latest: runTables.latest}
	err = s.retryIf(ctx, starting, func(ctx context.Context) error {
		err := s.pool.QueryRow(ctx, `SELECT current_setting('server_version'), pg_database_size(current_database())`).Scan(&h.Server, &h.Bytes)
		if err != nil {
			return err
		}
		if h.Schema, err = identify(ctx, s.pool); err != nil || h.Schema == 0 {
			return err
		}
		return s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM runs), (SELECT coalesce(sum(records), 0)::bigint FROM counts)`).Scan(&h.Runs, &h.Records)
	})
	if err == nil && h.Schema == h.Latest {
		err = s.checkRows(ctx)
	}
	return h, errors.Join(s.explain("check", err), s.Close())
}

// wrongRow names an inconsistent row, if there is one: a run whose counts or cost do not
// match its records, or a row that belongs to nothing.
const wrongRow = `SELECT 'what was counted of run ' || r.id FROM runs r,
		LATERAL (SELECT coalesce(sum(records), 0) AS records, coalesce(sum(unjudged), 0) AS unjudged, coalesce(sum(cost_micros), 0) AS cost_micros
			FROM counts WHERE run = r.n) c,
		LATERAL (SELECT count(*) AS records, count(kind) AS unjudged FROM records WHERE run = r.n) found,
		LATERAL (SELECT coalesce(sum(k.cost_micros), 0) AS cost_micros FROM records o JOIN calls k ON k.record = o.n WHERE o.run = r.n AND NOT k.cached) paid
		WHERE (c.records, c.unjudged, c.cost_micros) <> (found.records, found.unjudged, paid.cost_micros)
	UNION ALL SELECT 'the run of the counts of ' || run FROM counts WHERE run NOT IN (SELECT n FROM runs)
	UNION ALL SELECT 'the run of record ' || n FROM records WHERE run NOT IN (SELECT n FROM runs)
	UNION ALL SELECT 'record ' || n FROM records WHERE yes IS DISTINCT FROM CASE WHEN label IS NOT NULL THEN coalesce(pass, score >= 0.5) END
	UNION ALL SELECT 'the record of call ' || record FROM calls c WHERE NOT EXISTS (SELECT FROM records WHERE n = c.record)
	LIMIT 1`

// checkRows reads every run, record, reply and label, with everything that belongs to them.
func (s *Store) checkRows(ctx context.Context) error {
	var wrong string
	switch err := s.pool.QueryRow(ctx, wrongRow).Scan(&wrong); {
	case err == nil:
		return altered("%s", wrong)
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return err
		}
		if err := s.eachRecord(ctx, run.ID, store.Query{WithCalls: true}, func(deem.Record) bool { return true }); err != nil {
			return err
		}
	}
	for _, err := range s.Labels(ctx, store.LabelQuery{}) {
		if err != nil {
			return err
		}
	}
	rows, err := s.pool.Query(ctx, `SELECT key, body, latency, attempts, cost_micros, unpriced, sum FROM replies`)
	if err != nil {
		return err
	}
	var key string
	var c store.ReplyColumns
	var sum []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &c.Body, &c.Latency, &c.Attempts, &c.Cost, &c.Unpriced, &sum}, func() error {
		if !bytes.Equal(sum, sealReply(key, c)) {
			return altered("the reply with the key %q", unpack(key))
		}
		return nil
	})
	return err
}
