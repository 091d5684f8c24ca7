package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	"deem/internal/store"
)

// A writer is the only writing connection. SQLite has one writer at a time anyway; queueing
// here is cheaper than waiting for its lock.
type writer struct {
	db *sql.DB

	mu   sync.Mutex // held during a transaction
	conn *sql.Conn
	stmt writeStatements
}

// openWriter opens the writing connection of s, and migrates the database.
func openWriter(ctx context.Context, s *Store) (*writer, error) {
	db, err := s.openWriterDB()
	if err != nil {
		return nil, err
	}
	w := &writer{db: db}
	// Some tool may have changed the mode.
	var mode string
	err = migrate(ctx, db, s.real, s.opts)
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	}
	if err == nil && !strings.EqualFold(mode, "wal") {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	}
	if err == nil {
		w.conn, err = db.Conn(ctx)
	}
	if err == nil {
		err = prepareAll(ctx, w.conn, w.stmt.list())
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// openWriterDB opens the pool of the single writing connection.
func (s *Store) openWriterDB() (*sql.DB, error) {
	// A commit checkpoints the log at 4 MiB, and a log that grew beyond 48 MiB while
	// readers blocked it is truncated.
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

func (w *writer) close() error {
	var errs []error
	if w.conn != nil {
		errs = append(errs, closeAll(w.stmt.list()), w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// transactRun is [Store.transact] for a change of a run; do gets its number.
func (s *Store) transactRun(ctx context.Context, doing, runID string, do func(ctx context.Context, w *writer, run int64) error) error {
	run, err := s.number(ctx, runID)
	if err != nil {
		return s.explain(doing, err)
	}
	return s.transact(ctx, doing, func(ctx context.Context, w *writer) error { return do(ctx, w, run) })
}

// transact runs do in a transaction, which is committed if do returns nil and rolled back
// otherwise. It explains the error.
//
// Neither the statements nor the commit can be cancelled: they take milliseconds, and a
// cancellable context would cost a goroutine per statement. If the context is already done,
// nothing is started.
func (s *Store) transact(ctx context.Context, doing string, do func(context.Context, *writer) error) error {
	w := s.write
	if w == nil {
		return s.explain(doing, store.ErrReadOnly)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return s.explain(doing, err)
	}
	ctx = context.WithoutCancel(ctx)
	// IMMEDIATE takes the write lock now. A transaction that begins by reading could be
	// refused the lock later without waiting.
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.explain(doing, err)
	}
	err := do(ctx, w)
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have rolled back the transaction itself, for example if the disk is
		// full. Then there is nothing to roll back, and the error can be ignored.
		_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
	}
	return s.explain(doing, err)
}

// statement is a prepared statement with its text.
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
