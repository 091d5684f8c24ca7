package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"deem"
)

// Migrations only add to the schema: running workers of an older deem continue with the
// tables they know while a newer one migrates. An older deem that is started afterwards is
// rejected, because it would not maintain the new tables.
//
//go:embed migrations/*.sql
var migrations embed.FS

// runTables are the tables of the runs.
var runTables = NewTables(migrations, "deem_migrations", 0x6465656d6d696772) // "deemmigr" in ASCII

// identify returns the version of the schema, which is 0 before the first migration. It
// rejects the tables of another program, and of a newer deem. It changes nothing.
func identify(ctx context.Context, pool *pgxpool.Pool) (version int64, err error) {
	var versioned, runs bool
	row := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, to_regclass('runs') IS NOT NULL`, runTables.versions)
	if err := row.Scan(&versioned, &runs); err != nil {
		return 0, err
	}
	if !versioned && runs {
		return 0, deem.WithHint(errors.New("its schema holds the tables of another program"),
			"nothing was changed; name another database with --db, or another schema of this one with ?search_path=NAME in the URL")
	}
	if versioned { // There is a row for each applied migration.
		err = pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+runTables.versions+` WHERE is_applied`).Scan(&version)
	}
	if err != nil {
		return 0, err
	}
	return version, runTables.refuseNewer(version)
}

// migrate brings the database up to date. If several processes start together, one does it,
// and the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	version, err := identify(ctx, pool)
	if err != nil || version == runTables.latest {
		return err
	}
	return runTables.Alone(ctx, pool, func() error {
		// Another process may have migrated while this one waited for the lock.
		version, err := identify(ctx, pool)
		if err != nil || version == runTables.latest {
			return err
		}
		// A schema named in the URL is the user's.
		if path := pool.Config().ConnConfig.RuntimeParams["search_path"]; strings.TrimSpace(path) == schema {
			var there bool
			err := pool.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, schema).Scan(&there)
			if err == nil && !there {
				_, err = pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema)
			}
			if err != nil {
				return err
			}
		}
		return runTables.Up(ctx, pool)
	})
}

// Tables are the tables of one owner, which are migrated together: those of the runs, and
// those of other owners in the same database.
type Tables struct {
	files    fs.FS
	versions string
	lock     int64
	latest   int64
}

// NewTables returns the tables that the SQL files in the folder migrations create. Applied
// migrations are recorded in the table versions. lock is the number of the advisory lock.
// Each owner has its own table and number. It panics if the files are not migrations: they
// are part of the program.
func NewTables(files fs.FS, versions string, lock int64) Tables {
	folder, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(fmt.Sprintf("postgres: %v", err))
	}
	names, err := fs.Glob(folder, "*.sql")
	if err != nil || len(names) == 0 {
		panic("postgres: no migrations are embedded")
	}
	latest, err := goose.NumericComponent(names[len(names)-1]) // Glob sorts.
	if err != nil {
		panic(fmt.Sprintf("postgres: %v", err))
	}
	return Tables{folder, versions, lock, latest}
}

// Alone calls do while no other process is in a call of Alone for the same tables, waiting
// if necessary.
func (t Tables) Alone(ctx context.Context, pool *pgxpool.Pool, do func() error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, t.lock); err != nil {
		return err
	}
	err = do()
	_, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, t.lock)
	return errors.Join(err, unlockErr)
}

// Up migrates the tables. It is called in [Tables.Alone].
func (t Tables) Up(ctx context.Context, pool *pgxpool.Pool) error {
	db := stdlib.OpenDBFromPool(pool)
	p, err := goose.NewProvider(goose.DialectPostgres, db, t.files, goose.WithTableName(t.versions),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	return errors.Join(err, db.Close())
}

// refuseNewer returns an error for tables that this program does not know yet.
func (t Tables) refuseNewer(version int64) error {
	if version <= t.latest {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("it was written by a newer deem (schema %d, this deem knows %d)", version, t.latest),
		"nothing was changed; install a newer deem, or name another database with --db")
}

// refuseOlder returns an error for tables that cannot be read without migration.
func (t Tables) refuseOlder(version int64) error {
	if version >= t.latest {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("it was written by an older deem (schema %d, this deem reads %d)", version, t.latest),
		"the next `deem run --data FILE` brings it up to date")
}
