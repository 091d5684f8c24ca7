package queue

import (
	"context"
	"embed"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"deem/internal/store/postgres"
)

//go:embed migrations/*.sql
var migrations embed.FS

// tables are deem's own tables, in addition to those of River.
var tables = postgres.NewTables(migrations, "deem_queue_migrations", 0x6465656d71756575) // "deemqueu" in ASCII

// hasTables reports whether the database has a queue.
func hasTables(ctx context.Context, pool *pgxpool.Pool) (there bool, err error) {
	err = pool.QueryRow(ctx, `SELECT to_regclass('queue_limits') IS NOT NULL AND to_regclass('river_job') IS NOT NULL`).Scan(&there)
	return there, err
}

// migrate creates or upgrades River's tables and ours. If several processes start together,
// one migrates and the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	return tables.Alone(ctx, pool, func() error {
		rivers, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
		if err != nil {
			return err
		}
		if _, err := rivers.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return err
		}
		return tables.Up(ctx, pool)
	})
}
