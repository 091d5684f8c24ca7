package postgres

import (
	"context"
	"errors"
)

// Health is what [Check] found.
type Health struct {
	Path    string `json:"path"`   // the URL, without a password
	Server  string `json:"server"` // version of Postgres
	Bytes   int64  `json:"bytes"`  // of the database
	Schema  int64  `json:"schema"` // version of the schema, 0 when there is none yet
	Latest  int64  `json:"latest"` // version that this deem writes
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // of all runs
}

// Check says whether runs can be kept in the database at url: it can be reached, and what
// is there is a schema that this deem knows, or none that it may make. It changes nothing.
func Check(ctx context.Context, url string, o Options) (Health, error) {
	s, err := connect(ctx, url, o, true)
	if err != nil {
		return Health{Latest: runTables.Latest()}, err
	}
	h := Health{Path: s.path, Latest: runTables.Latest()}
	err = s.retryStart(ctx, func(ctx context.Context) error { return h.read(ctx, s) })
	return h, errors.Join(s.explain("check", err), s.Close())
}

// read fills in what the database says.
func (h *Health) read(ctx context.Context, s *Store) error {
	found, err := identify(ctx, s.pool)
	if err != nil {
		return err
	}
	h.Schema = found.version
	err = s.pool.QueryRow(ctx, `SELECT current_setting('server_version'), pg_database_size(current_database())`).Scan(&h.Server, &h.Bytes)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == 0 {
		return err
	}
	return s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM runs), (SELECT coalesce(sum(records), 0)::bigint FROM counts)`).Scan(&h.Runs, &h.Records)
}
