package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/store/internal/upgrade"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema makes the tables of the latest version at once, in a database that has none: to
// go through all versions would take most of the time that a short run takes. A test
// holds that both come to the same, and writes it anew with -update.
//
//go:embed schema.sql
var schema string

// applicationID is what the first migration writes into the head of the file.
const applicationID = 1684366701

// tables are those of the runs.
var tables = upgrade.SQLite(migrations)

// identity is what a file says it is.
type identity struct {
	application int64
	strange     int   // tables that goose did not make for itself
	versioned   bool  // goose has made its own
	version     int64 // of the schema, 0 before the first migration
}

// identify reads what the database says it is. It changes nothing, and reads all in one
// transaction: between two queries another process may bring the database up to date.
func identify(ctx context.Context, db *sql.DB) (found identity, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return identity{}, err
	}
	defer tx.Rollback() //nolint:errcheck // Nothing was written.
	err = found.read(ctx, tx)
	return found, err
}

func (id *identity) read(ctx context.Context, tx *sql.Tx) error {
	row := tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		coalesce(sum(name NOT IN ('goose_db_version', 'sqlite_sequence')), 0),
		coalesce(sum(name = 'goose_db_version'), 0) FROM sqlite_schema`)
	if err := row.Scan(&id.application, &id.strange, &id.versioned); err != nil || !id.versioned {
		return err
	}
	return tx.QueryRowContext(ctx, tables.SelectVersion()).Scan(&id.version)
}

// blank reports whether the database is empty, or was left by a process that died
// between goose's own table and our first migration.
func (id identity) blank() bool { return id.application == 0 && id.strange == 0 && id.version == 0 }

// mustBeOurs refuses the database of another program, and of a newer deem.
func (id identity) mustBeOurs() error {
	if id.application != applicationID && !id.blank() {
		return deem.WithHint(fmt.Errorf("it is a database of another program"),
			"nothing was changed; name another database with --db")
	}
	return tables.RefuseNewer(id.version)
}

// mustBeCurrent refuses what cannot be read as it is.
func (id identity) mustBeCurrent() error {
	if err := id.mustBeOurs(); err != nil {
		return err
	}
	if id.version == 0 {
		return deem.WithHint(fmt.Errorf("it holds no runs"), "run `deem run` first, or name another database with --db")
	}
	return tables.RefuseOlder(id.version)
}

// migrate brings the database of db up to date. Only one process does that at a
// time.
func migrate(ctx context.Context, db *sql.DB, path string, opts Options) error {
	found, err := identify(ctx, db)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == tables.Latest() {
		return err
	}
	lock, err := waitLock(ctx, path+"-migrate.lock", opts.Wait)
	if err != nil {
		return fmt.Errorf("bring up to date: %w", err)
	}
	err = migrateLocked(ctx, db, path)
	if unlockErr := lock.release(); err == nil {
		err = unlockErr
	}
	return err
}

func migrateLocked(ctx context.Context, db *sql.DB, path string) (err error) {
	// Another process may have been here while this one waited for the lock.
	found, err := identify(ctx, db)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == tables.Latest() {
		return err
	}
	// WAL is a property of the file. It is set here, because two processes that
	// set it at the same time get in each other's way without waiting.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if found.blank() && !found.versioned {
		return makeTables(ctx, db)
	}
	claims, err := claimAll(path)
	defer func() {
		for _, c := range claims {
			err = errors.Join(err, c.release())
		}
	}()
	if err != nil {
		return err
	}
	return tables.Up(ctx, db)
}

// claimAll claims all runs that anybody has claimed, whoever that was. It fails if one is
// being judged: an older deem cannot write into newer tables, and what it holds would be
// lost. The claims are to be released even then.
func claimAll(path string) (claims []*claim, err error) {
	dir, base := filepath.Split(path)
	files, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := file.Name()
		if !strings.HasPrefix(name, base+"-") || !strings.HasSuffix(name, ".lock") || name == base+"-migrate.lock" {
			continue
		}
		c, err := tryLock(dir + name)
		if errors.Is(err, errLocked) {
			return claims, deem.WithHint(errors.New("an older deem is judging a run in it"),
				"%s is at it; wait for it, or stop it and run its command again with this deem to continue", holder(dir+name))
		}
		if err != nil {
			return claims, err
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// makeTables makes all tables, or none.
func makeTables(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // After a commit there is nothing to take back.
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	return tx.Commit()
}
