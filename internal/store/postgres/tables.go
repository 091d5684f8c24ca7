package postgres

import (
	"context"
	"errors"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"deem/internal/store/internal/upgrade"
)

// Tables are tables of one owner, which are brought up to date together: those of the
// runs, and those of whoever keeps something beside them in the same database.
type Tables struct {
	schema   upgrade.Schema
	versions string
	lock     int64
}

// NewTables returns the tables that the SQL files in the folder migrations make. What was
// applied is noted in the table versions. lock is the number of the advisory lock of
// whoever applies it. Each owner has a table and a number of its own.
func NewTables(files fs.FS, versions string, lock int64) Tables {
	return Tables{upgrade.Postgres(files, versions), versions, lock}
}

// Latest returns the version that this program knows.
func (t Tables) Latest() int64 { return t.schema.Latest() }

// Version returns the version of the tables that are there. It is an error if there are
// none.
func (t Tables) Version(ctx context.Context, pool *pgxpool.Pool) (version int64, err error) {
	err = pool.QueryRow(ctx, t.schema.SelectVersion()).Scan(&version)
	return version, err
}

// Alone calls do while no other process is in a call of Alone for the same tables. Until
// then it waits.
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

// Up brings the tables up to date. It is called in [Tables.Alone].
func (t Tables) Up(ctx context.Context, pool *pgxpool.Pool) error {
	db := stdlib.OpenDBFromPool(pool)
	return errors.Join(t.schema.Up(ctx, db), db.Close())
}
