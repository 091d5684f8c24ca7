package queue

import (
	"context"
	"embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"deem/internal/store/postgres"
)

// Migrations only add to the schema. Unlike a store, the queue of an older deem works
// with the tables of a newer one: a fleet is brought up to date one worker after the
// other.
//
//go:embed migrations/*.sql
var migrations embed.FS

// tables are ours, beside those of River.
var tables = postgres.NewTables(migrations, "deem_queue_migrations", 0x6465656d71756575) // "deemqueu" in ASCII

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
	return tables.Alone(ctx, pool, func() error { return migrateLocked(ctx, pool) })
}

func migrateLocked(ctx context.Context, pool *pgxpool.Pool) error {
	riverMigrator, err := newRiverMigrator(pool)
	if err != nil {
		return err
	}
	if _, err := riverMigrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return tables.Up(ctx, pool)
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
	version, err := tables.Version(ctx, pool)
	if err != nil {
		return false, err
	}
	riverMigrator, err := newRiverMigrator(pool)
	if err != nil {
		return false, err
	}
	done, err := riverMigrator.ExistingVersions(ctx)
	return version >= tables.Latest() && len(done) >= len(riverMigrator.AllVersions()), err
}
