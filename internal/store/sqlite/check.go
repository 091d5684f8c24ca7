package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/store"
)

// Health is the result of [Check].
type Health struct {
	Path    string `json:"path"`
	Exists  bool   `json:"exists"` // without a database the rest is zero
	Bytes   int64  `json:"bytes"`  // of the file, without its log
	Schema  int64  `json:"schema"` // version of the schema
	Latest  int64  `json:"latest"` // version that this deem writes
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // of all runs
}

// Check reports whether runs can be stored at path: the folder is writable, and an existing
// file is an intact database that this deem knows. A missing database is fine if it could
// be created. Check changes nothing, but reads the whole file: SQLite checks its pages and
// indexes, and every record is read as a report would read it.
func Check(ctx context.Context, path string, o Options) (Health, error) {
	h := Health{Path: path, Latest: latest}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The nearest folder that exists must be writable.
		dir := filepath.Dir(path)
		for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir; _, err = os.Stat(dir) {
			dir = filepath.Dir(dir)
		}
		return h, checkFolder(dir)
	case err != nil:
		return h, unwritable(fmt.Errorf("check store: %w", err))
	case info.IsDir():
		return h, isFolder(path)
	}
	h.Exists, h.Bytes = true, info.Size()
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return h, err
	}
	s, err := newStore(path, o)
	if err != nil {
		return h, err
	}
	db, err := sql.Open("sqlite", s.dsn(cacheReader))
	if err != nil {
		return h, s.explain("check", err)
	}
	db.SetMaxOpenConns(1)
	err = errors.Join(h.read(ctx, db), db.Close())
	if err != nil || h.Schema != h.Latest {
		return h, s.explain("check", err)
	}
	return h, checkRecords(ctx, path, o)
}

// checkRecords reads every run, record, reply and label, with everything that belongs to
// them.
func checkRecords(ctx context.Context, path string, o Options) (err error) {
	s, err := OpenReadOnly(ctx, path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return err
		}
		for _, err := range s.Records(ctx, run.ID, store.Query{WithCalls: true}) {
			if err != nil {
				return err
			}
		}
	}
	for _, err := range s.Labels(ctx, store.LabelQuery{}) {
		if err != nil {
			return err
		}
	}
	var wrong sql.NullInt64
	err = s.read.QueryRowContext(ctx, `SELECT min(r.n) FROM replies r WHERE NOT `+soundReply).Scan(&wrong)
	if err == nil && wrong.Valid {
		err = altered("reply %d", wrong.Int64)
	}
	return s.explain("check", err)
}

// checkFolder checks that a file can be created in dir, as needed for the log next to the
// database. Permissions alone are not enough to know.
func checkFolder(dir string) error {
	f, err := os.CreateTemp(dir, ".deem-check-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return unwritable(fmt.Errorf("check store: %w", err))
	}
	return nil
}

// read reads the facts from the database, and makes SQLite check the whole file.
func (h *Health) read(ctx context.Context, db *sql.DB) error {
	found, err := identify(ctx, db)
	h.Schema = found.version
	if err != nil {
		return err
	}
	var says string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&says); err != nil {
		return err
	}
	if says != "ok" {
		// The first of two lines only names the database.
		says = says[strings.LastIndexByte(says, '\n')+1:]
		return deem.WithHint(fmt.Errorf("%s: %s", damaged.says, says), "%s", damaged.advice)
	}
	if found.version == latest {
		if err := checkRows(ctx, db); err != nil {
			return err
		}
	}
	// Acquiring the write lock is as good a test as writing.
	for _, statement := range []string{"BEGIN IMMEDIATE", "ROLLBACK"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if found.version == 0 {
		return nil
	}
	return db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(records), 0) FROM runs`).Scan(&h.Runs, &h.Records)
}

// checkRows looks for rows that refer to missing rows, and recounts the records of each run
// and their cost.
func checkRows(ctx context.Context, db *sql.DB) error {
	var lost, run string
	var errs []error
	err := db.QueryRowContext(ctx, `SELECT printf('a row of %s refers to one of %s', "table", parent) FROM pragma_foreign_key_check LIMIT 1`).Scan(&lost)
	if err == nil {
		err = deem.WithHint(fmt.Errorf("%s: %s, which is not there", damaged.says, lost), "%s", damaged.advice)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		errs = append(errs, err)
	}
	err = db.QueryRowContext(ctx, `SELECT id FROM runs LEFT JOIN (
			SELECT run, count(*) AS records, count(kind) AS unjudged,
				sum((SELECT coalesce(sum(cost_micros), 0) FROM calls WHERE record = r.n AND NOT cached)) AS cost_micros
			FROM records r GROUP BY run) found ON found.run = runs.n
		WHERE (runs.records, runs.unjudged, runs.cost_micros)
			<> (coalesce(found.records, 0), coalesce(found.unjudged, 0), coalesce(found.cost_micros, 0)) LIMIT 1`).Scan(&run)
	if err == nil {
		err = altered("what was counted of run %q", run)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
