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
)

// Health is what [Check] found.
type Health struct {
	Path    string `json:"path"`
	Exists  bool   `json:"exists"` // without a database the rest is zero
	Bytes   int64  `json:"bytes"`  // of the file, without its log
	Schema  int64  `json:"schema"` // version of the schema
	Latest  int64  `json:"latest"` // version that this deem writes
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // of all runs
}

// Check says whether runs can be kept at path: the place can be written, and what
// is there is a sound database that this deem knows. A database that is missing is
// sound if it could be created. Check changes nothing, but reads all of the file.
func Check(ctx context.Context, path string, o Options) (Health, error) {
	h := Health{Path: path, Latest: tables.Latest()}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, checkFolder(existingFolder(filepath.Dir(path)))
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
	return h, s.explain("check", errors.Join(h.read(ctx, db), db.Close()))
}

// existingFolder returns dir or the nearest folder above it that there is.
func existingFolder(dir string) string {
	for {
		_, err := os.Stat(dir)
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return dir
		}
		dir = up
	}
}

// checkFolder says whether a file can be created in dir, as the log beside the
// database has to be. Permissions alone do not tell.
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

// read fills in what the database says.
func (h *Health) read(ctx context.Context, db *sql.DB) error {
	found, err := identify(ctx, db)
	if err != nil {
		return err
	}
	h.Schema = found.version
	if err := found.mustBeOurs(); err != nil {
		return err
	}
	if err := checkSound(ctx, db); err != nil {
		return err
	}
	if found.version == tables.Latest() {
		if err := checkReferences(ctx, db); err != nil {
			return err
		}
	}
	// To be given the lock for writing is as good as writing.
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

// checkSound has SQLite go through the whole file.
func checkSound(ctx context.Context, db *sql.DB) error {
	var says string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&says); err != nil {
		return err
	}
	if says != "ok" {
		// The first of two lines only says which database.
		says = says[strings.LastIndexByte(says, '\n')+1:]
		return deem.WithHint(fmt.Errorf("%s: %s", damaged.says, says), "%s", damaged.advice)
	}
	return nil
}

// checkReferences looks whether there is a row that refers to one that is not there.
func checkReferences(ctx context.Context, db *sql.DB) error {
	var lost string
	err := db.QueryRowContext(ctx, `SELECT printf('row %d of %s refers to %s', rowid, "table", parent) FROM pragma_foreign_key_check
		UNION ALL
		SELECT printf('row %d of records refers to reply %d', r.n, c.value ->> 'reply') FROM records r, json_each(r.calls) c
		WHERE c.value ->> 'reply' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM replies WHERE n = c.value ->> 'reply')
		UNION ALL
		SELECT printf('row %d of items refers to text %d', i.n, t.value) FROM items i, json_each(i.texts) t
		WHERE NOT EXISTS (SELECT 1 FROM texts WHERE n = t.value)
		LIMIT 1`).Scan(&lost)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return deem.WithHint(fmt.Errorf("%s: %s, which is not there", damaged.says, lost), "%s", damaged.advice)
}
