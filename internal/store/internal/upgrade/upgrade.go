// Package upgrade brings the tables of a database up to date, by migrations that the
// program carries along.
package upgrade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"deem"
)

// A Schema is a row of migrations, each of which makes the tables of one version out of
// those of the version before.
type Schema struct {
	dialect  goose.Dialect
	files    fs.FS
	versions string
	latest   int64
}

// Postgres returns the schema of the SQL files in the folder migrations, which is
// embedded. versions is the table in which is noted what was applied: another program in
// the same database may have one of its own.
func Postgres(files fs.FS, versions string) Schema {
	return newSchema(goose.DialectPostgres, files, versions)
}

// newSchema panics if the files are not migrations: they are a part of the program.
func newSchema(dialect goose.Dialect, files fs.FS, versions string) Schema {
	folder, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v", err))
	}
	names, err := fs.Glob(folder, "*.sql")
	if err != nil || len(names) == 0 {
		panic("upgrade: no migrations are embedded")
	}
	latest, err := goose.NumericComponent(names[len(names)-1]) // Glob sorts.
	if err != nil {
		panic(fmt.Sprintf("upgrade: %v", err))
	}
	return Schema{dialect, folder, versions, latest}
}

// Latest returns the version that this program knows.
func (s Schema) Latest() int64 { return s.latest }

// SelectVersion is the query for the version of the tables of a database in which the
// table of versions is. There is a row for each migration that was applied.
func (s Schema) SelectVersion() string {
	return `SELECT coalesce(max(version_id), 0) FROM ` + s.versions + ` WHERE is_applied`
}

// Up brings the tables up to date. Only one process may do so at a time.
func (s Schema) Up(ctx context.Context, db *sql.DB) error {
	p, err := s.provider(db)
	if err == nil {
		_, err = p.Up(ctx)
	}
	return err
}

func (s Schema) provider(db *sql.DB) (*goose.Provider, error) {
	return goose.NewProvider(s.dialect, db, s.files, goose.WithTableName(s.versions),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// RefuseNewer returns an error for tables that this program does not know yet.
func (s Schema) RefuseNewer(version int64) error {
	if version <= s.latest {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("it was written by a newer deem (schema %d, this deem knows %d)", version, s.latest),
		"nothing was changed; install a newer deem, or name another database with --db")
}

// ErrOlder is what [Schema.RefuseOlder] says.
var ErrOlder = errors.New("it was written by an older deem")

// RefuseOlder returns an error for tables that cannot be read as they are.
func (s Schema) RefuseOlder(version int64) error {
	if version >= s.latest {
		return nil
	}
	return deem.WithHint(
		fmt.Errorf("%w (schema %d, this deem reads %d)", ErrOlder, version, s.latest),
		"open it for writing once to bring it up to date, as `deem run` does")
}
