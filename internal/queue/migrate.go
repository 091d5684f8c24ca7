package queue

import (
	"context"
	"embed"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Migrations only add to the schema. Unlike a store, the queue of an older deem works
// with the tables of a newer one: a fleet is brought up to date one worker after the
// other.
//
//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table in which goose notes what was applied to the queue.
const versions = "deem_queue_migrations"

// migrationLock is the advisory lock of whoever migrates: "deemqueu" in ASCII.
const migrationLock = 0x6465656d71756575

// hasTables reports whether there is a queue.
func hasTables(ctx context.Context, pool *pgxpool.Pool) (there bool, err error) {
	err = pool.QueryRow(ctx, `SELECT to_regclass('queue_limits') IS NOT NULL AND to_regclass('river_job') IS NOT NULL`).Scan(&there)
	return there, err
}

// migrate makes the tables of River and ours, or brings them up to date. Of processes
// that start together one does it, and the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	current, err := isCurrent(ctx, pool)
	if err != nil || current {
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
	riverMigrator, err := newRiverMigrator(pool)
	if err != nil {
		return err
	}
	if _, err := riverMigrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
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

func newRiverMigrator(pool *pgxpool.Pool) (*rivermigrate.Migrator[pgx.Tx], error) {
	return rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
}

// isCurrent reports whether nothing is left to migrate.
func isCurrent(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	there, err := hasTables(ctx, pool)
	if err != nil || !there {
		return false, err
	}
	var version int64
	if err := pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versions+` WHERE is_applied`).Scan(&version); err != nil {
		return false, err
	}
	riverMigrator, err := newRiverMigrator(pool)
	if err != nil {
		return false, err
	}
	done, err := riverMigrator.ExistingVersions(ctx)
	return version >= latest && len(done) >= len(riverMigrator.AllVersions()), err
}

// latest is the version of our tables that this program knows.
var latest = func() int64 {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		panic("queue: no migrations are embedded")
	}
	version, err := goose.NumericComponent(names[len(names)-1]) // Glob sorts.
	if err != nil {
		panic(err)
	}
	return version
}()
