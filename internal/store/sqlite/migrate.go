package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"deem"
)

// migrations are the SQL files that create the tables, each based on the files before it.
// The version of a database, its user_version, is the number of applied files; a new
// migration is one more file.
//
//go:embed migrations/*.sql
var migrations embed.FS

// steps are the texts of the migrations, in order.
var steps = func() (texts []string) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // Glob sorts.
	for _, name := range files {
		text, readErr := migrations.ReadFile(name)
		texts, err = append(texts, string(text)), errors.Join(err, readErr)
	}
	if err != nil {
		panic(fmt.Sprintf("sqlite: %v", err)) // They are part of the program.
	}
	return texts
}()

// latest is the version that this deem reads and writes.
var latest = int64(len(steps))

// applicationID is the id that the first migration writes into the file header.
const applicationID = 1684366701

// identity is how a file identifies itself.
type identity struct {
	application, version int64
	tables               int
}

// identify reads the identity of the database, and rejects the database of another program,
// and of a newer deem. It changes nothing, and reads everything in one statement: between two
// queries another process may create the tables.
func identify(ctx context.Context, db *sql.DB) (id identity, err error) {
	err = db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`).
		Scan(&id.application, &id.version, &id.tables)
	switch {
	case err != nil || id == identity{}: // an empty file
	case id.application != applicationID:
		err = deem.WithHint(errors.New("it is a database of another program"),
			"nothing was changed; name another database with --db")
	case id.version < 1: // It is written together with the first tables.
		err = altered("the version of its tables")
	case id.version > latest:
		err = deem.WithHint(fmt.Errorf("it was written by a newer deem (schema %d, this deem knows %d)", id.version, latest),
			"nothing was changed; install a newer deem, or name another database with --db")
	}
	return id, err
}

// migrate brings the database of db up to date. Only one process does that at a time.
func migrate(ctx context.Context, db *sql.DB, path string, opts Options) error {
	found, err := identify(ctx, db)
	if err != nil || found.version == latest {
		return err
	}
	lock, err := waitLock(ctx, path+"-migrate.lock", opts.Wait)
	if err != nil {
		return fmt.Errorf("bring up to date: %w", err)
	}
	// WAL is a property of the file. It is set here, under the lock, because two processes
	// that set it at the same time fail without waiting.
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	if err == nil {
		err = apply(ctx, db)
	}
	return errors.Join(err, lock.release())
}

// apply applies the missing steps, all or none.
func apply(ctx context.Context, db *sql.DB) error {
	// Another process may have migrated while this one waited for the lock.
	found, err := identify(ctx, db)
	if err != nil || found.version == latest {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // After a commit there is nothing to take back.
	for _, step := range steps[found.version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", latest)); err != nil {
		return err
	}
	return tx.Commit()
}
