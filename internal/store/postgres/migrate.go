package postgres

import (
	"context"
	"embed"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

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

// identity is how a database identifies itself.
type identity struct {
	version int64 // of the schema; 0 before the first migration
	foreign bool  // it has a table with one of our names that we did not create
}

// identify reads the identity of the database. It changes nothing.
func identify(ctx context.Context, pool *pgxpool.Pool) (identity, error) {
	var versioned, runs bool
	row := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, to_regclass('runs') IS NOT NULL`, runTables.versions)
	if err := row.Scan(&versioned, &runs); err != nil {
		return identity{}, err
	}
	if !versioned {
		return identity{foreign: runs}, nil
	}
	version, err := runTables.Version(ctx, pool)
	return identity{version: version}, err
}

// mustBeOurs rejects the tables of another program, and of a newer deem.
func (id identity) mustBeOurs() error {
	if id.foreign {
		return deem.WithHint(errors.New("its schema holds the tables of another program"),
			"nothing was changed; name another database with --db, or another schema of this one with ?search_path=NAME in the URL")
	}
	return runTables.refuseNewer(id.version)
}

// migrate brings the database up to date. If several processes start together, one does it,
// and the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	found, err := identify(ctx, pool)
	if err != nil {
		return err
	}
	if err := found.mustBeOurs(); err != nil || found.version == runTables.Latest() {
		return err
	}
	return runTables.Alone(ctx, pool, func() error {
		// Another process may have migrated while this one waited for the lock.
		found, err := identify(ctx, pool)
		if err != nil {
			return err
		}
		if err := found.mustBeOurs(); err != nil || found.version == runTables.Latest() {
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
