package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A writer is the one connection that writes. SQLite has one writer at a time
// anyway; to queue for it here is cheaper than to wait for its lock.
type writer struct {
	db *sql.DB

	mu   sync.Mutex // held during a transaction
	conn *sql.Conn
	stmt writeStatements
}

// errReadOnly is what a store that was opened for reading says to a write.
var errReadOnly = errors.New("it was opened for reading only")

// openWriter opens the connection of s that writes, and brings the database up to
// date.
func openWriter(ctx context.Context, s *Store) (*writer, error) {
	db, err := s.openWriterDB()
	if err != nil {
		return nil, err
	}
	w := &writer{db: db}
	if err := w.open(ctx, s); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// openWriterDB opens the pool of the one connection that writes.
func (s *Store) openWriterDB() (*sql.DB, error) {
	// A commit moves the log into the database when it has 4 MiB, and a log that grew
	// beyond 48 MiB while readers held on to it is cut back.
	pragmas := []string{"journal_size_limit(50331648)"}
	if s.opts.MaxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("max_page_count(%d)", s.opts.MaxPages))
	}
	db, err := sql.Open("sqlite", s.dsn(cacheWriter, pragmas...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func (w *writer) open(ctx context.Context, s *Store) error {
	if err := migrate(ctx, w.db, s.real, s.opts); err != nil {
		return err
	}
	if err := keepWAL(ctx, w.db); err != nil {
		return err
	}
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	w.conn = conn
	return prepareAll(ctx, conn, w.stmt.list())
}

// keepWAL puts a database back into WAL mode if some tool took it out.
func keepWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if strings.EqualFold(mode, "wal") {
		return nil
	}
	_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

func (w *writer) close() error {
	var errs []error
	if w.conn != nil {
		errs = append(errs, closeAll(w.stmt.list()), w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// transact runs do in a transaction, which is committed if do returns nil and
// undone if not.
//
// Neither the statements nor the commit can be cancelled: they take milliseconds,
// and a context that could cancel them would cost a goroutine per statement. A
// context that is done already starts nothing.
func (s *Store) transact(ctx context.Context, do func(context.Context, *writer) error) error {
	w := s.write
	if w == nil {
		return errReadOnly
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	// IMMEDIATE takes the lock for writing now. A transaction that begins by
	// reading could be refused the lock later without being allowed to wait.
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do(ctx, w)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have undone the transaction itself, as it does when the
		// disk is full. Then there is nothing to roll back, and its saying so
		// is not news.
		_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// statement is one that is prepared, with the text it is made of.
type statement struct {
	into **sql.Stmt
	text string
}

// preparer is a connection or a pool of them.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

func prepareAll(ctx context.Context, p preparer, list []statement) error {
	for _, st := range list {
		// The statement outlives ctx.
		prepared, err := p.PrepareContext(context.WithoutCancel(ctx), st.text)
		if err != nil {
			return err
		}
		*st.into = prepared
	}
	return nil
}

func closeAll(list []statement) error {
	var errs []error
	for _, st := range list {
		if *st.into != nil {
			errs = append(errs, (*st.into).Close())
		}
	}
	return errors.Join(errs...)
}
