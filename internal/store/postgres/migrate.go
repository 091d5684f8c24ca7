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

// Migrations only add to the schema: workers of an older deem that are at work while a
// newer one migrates go on with the tables they know. An older deem that is started
// afterwards is refused, because it would not keep what the newer one does.
//
//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table in which goose notes what was applied. Another program in the
// same database may have one of its own.
const versions = "deem_migrations"

// latest is the version of the schema that this program knows.
var latest = func() int64 {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		panic("postgres: no migrations are embedded")
	}
	version, err := goose.NumericComponent(names[len(names)-1]) // Glob sorts.
	if err != nil {
		panic(fmt.Sprintf("postgres: %v", err))
	}
	return version
}()

// identity is what a database says it is.
type identity struct {
	version int64 // of the schema, 0 before the first migration
	foreign bool  // it has a table named as one of ours, but we did not make it
}

// identify reads what the database says it is. It changes nothing.
func identify(ctx context.Context, pool *pgxpool.Pool) (identity, error) {
	var found identity
	var versioned, runs bool
	row := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, to_regclass('runs') IS NOT NULL`, versions)
	if err := row.Scan(&versioned, &runs); err != nil {
		return identity{}, err
	}
	if !versioned {
		return identity{foreign: runs}, nil
	}
	// goose writes one row for each migration that was applied.
	row = pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versions+` WHERE is_applied`)
	err := row.Scan(&found.version)
	return found, err
}

// mustBeOurs refuses the tables of another program, and of a newer deem.
func (id identity) mustBeOurs() error {
	if id.foreign {
		return deem.WithHint(errors.New("its schema holds the tables of another program"),
			"nothing was changed; name another schema with ?search_path= in the URL, or another database with --db")
	}
	if id.version > latest {
		return deem.WithHint(
			fmt.Errorf("it was written by a newer deem (schema %d, this deem knows %d)", id.version, latest),
			"nothing was changed; install a newer deem, or name another database with --db")
	}
	return nil
}

// mustBeCurrent refuses what cannot be read as it is.
func (id identity) mustBeCurrent() error {
	if err := id.mustBeOurs(); err != nil {
		return err
	}
	if id.version == 0 {
		return deem.WithHint(fmt.Errorf("it holds no runs: %w", fs.ErrNotExist),
			"run `deem run` first, or name another database with --db")
	}
	if id.version < latest {
		return deem.WithHint(
			fmt.Errorf("it was written by an older deem (schema %d, this deem reads %d)", id.version, latest),
			"open it for writing once to bring it up to date, as `deem run` does")
	}
	return nil
}

// migrationLock is the advisory lock of whoever migrates: "deemmigr" in ASCII.
const migrationLock = 0x6465656d6d696772

// migrate brings the database up to date. Of processes that start together one does
// it, and the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	found, err := identify(ctx, pool)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == latest {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return err
	}
	err = migrateLocked(ctx, pool)
	_, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(migrationLock))
	return errors.Join(err, unlockErr)
}

func migrateLocked(ctx context.Context, pool *pgxpool.Pool) error {
	// Another process may have been here while this one waited for the lock.
	found, err := identify(ctx, pool)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == latest {
		return err
	}
	if err := createSchema(ctx, pool); err != nil {
		return err
	}
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	p, err := goose.NewProvider(goose.DialectPostgres, db, folder, goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err == nil {
		_, err = p.Up(ctx)
	}
	return errors.Join(err, db.Close())
}

// createSchema makes the schema that is ours. One that the URL names is the user's.
func createSchema(ctx context.Context, pool *pgxpool.Pool) error {
	if path := pool.Config().ConnConfig.RuntimeParams["search_path"]; strings.TrimSpace(path) != schema {
		return nil
	}
	var there bool
	if err := pool.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, schema).Scan(&there); err != nil || there {
		return err
	}
	_, err := pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema)
	return err
}
