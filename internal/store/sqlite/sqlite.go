// Package sqlite stores runs in an SQLite database: one file, with a second one next to it
// while it is in use.
//
// One connection writes and a few read. Because the database is in WAL mode, readers, here
// and in other processes, never wait for the writer, nor the writer for them. A commit has
// been passed to the operating system when it returns, so killing the process loses no
// committed data. The disk is synced only at checkpoints (synchronous=NORMAL): a power cut
// may lose the last commits, but never breaks one apart or damages the file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"deem"
	"deem/internal/store"

	sqlite3 "modernc.org/sqlite/lib"
)

// Options configure a store. The zero value of each field means the default.
type Options struct {
	// Wait is how long to wait for another process that is writing; 10 s.
	Wait time.Duration

	// MaxPages limits the database in pages of 4 KiB; 0 means no limit except the disk. At
	// the limit, the database behaves as if the disk were full.
	MaxPages int

	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// readers is the number of reading connections. Each may have cacheReader of pages in
// memory, so there are few.
const readers = 4

// The page caches in KiB. They bound the memory of the database however large it grows. The
// writer's has to hold the pages that one commit changes, a few hundred; a large database
// would not fit into any cache, and the operating system caches its pages anyway.
const (
	cacheWriter = 3 << 10
	cacheReader = 1 << 10
)

// A Store stores runs in one database. [Open] and [OpenReadOnly] return one.
type Store struct {
	path string // as the user gave it
	real string // without symbolic links, for lock files
	opts Options

	read  *sql.DB
	query readStatements

	// write is nil in a store that was opened for reading only.
	write *writer

	filter replyFilter

	// numbers maps the id of a run to its key n. Neither ever changes.
	numbers sync.Map

	// holders maps the id of a run to the holder of money that appends its records.
	holders sync.Map

	mu     sync.Mutex
	claims map[string]*claim // by the id of the run

	closing  sync.Once
	closeErr error
}

var _ store.Database = (*Store)(nil)

// Open opens the database at path for reading and writing. It creates the file and its
// folders if they are missing, accessible only to the user, and migrates an older database.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	s, err := newStore(path, o)
	if err != nil {
		return nil, err
	}
	if s.write, err = openWriter(ctx, s); err == nil { // It has checked and migrated the database.
		err = s.openReaders()
	}
	if err == nil {
		err = prepareAll(ctx, s.read, s.query.list())
	}
	if err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

// OpenReadOnly opens the database at path for reading. It creates nothing: if there is no
// database, the error is [fs.ErrNotExist] with a hint.
func OpenReadOnly(ctx context.Context, path string, o Options) (*Store, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, deem.WithHint(fmt.Errorf("no runs at %s: %w", path, fs.ErrNotExist),
			"judge something first, with `deem run --data FILE` or `deem demo`, or name another database with --db")
	case err != nil:
		return nil, deem.WithHint(fmt.Errorf("open store: %w", err), "name another database with --db")
	case info.IsDir():
		return nil, isFolder(path)
	}
	s, err := newStore(path, o)
	if err != nil {
		return nil, err
	}
	err = s.readCurrent(ctx)
	if hasCode(err, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) {
		// Even readers need a file next to the database, to tell writers their position. On
		// a read-only disk there are no writers, and without a log the database file is
		// complete.
		if _, statErr := os.Stat(s.real + "-wal"); statErr != nil {
			err = errors.Join(s.read.Close(), s.readCurrent(ctx, "immutable"))
		}
	}
	if err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

func newStore(path string, o Options) (*Store, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if o.Wait <= 0 {
		o.Wait = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{path: path, real: resolved, opts: o, claims: map[string]*claim{}}, nil
}

// readCurrent opens the pool of reading connections and checks that the database is ours
// and of this version.
func (s *Store) readCurrent(ctx context.Context, params ...string) error {
	if err := s.openReaders(params...); err != nil {
		return err
	}
	found, err := identify(ctx, s.read)
	switch {
	case err != nil:
		return err
	case found == identity{}:
		return deem.WithHint(errors.New("it holds no runs"), "judge something first, with `deem run --data FILE` or `deem demo`, or name another database with --db")
	case found.version < latest:
		return deem.WithHint(fmt.Errorf("it was written by an older deem (schema %d, this deem reads %d)", found.version, latest),
			"the next `deem run --data FILE` brings it up to date")
	}
	return prepareAll(ctx, s.read, s.query.list())
}

// openReaders opens the pool of reading connections, with the given SQLite parameters set.
func (s *Store) openReaders(params ...string) error {
	name := s.dsn(cacheReader, "query_only(1)")
	for _, param := range params {
		name += "&" + param + "=1"
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	s.read = db
	return nil
}

// Close releases all claims and closes the database. Closing it again does nothing.
func (s *Store) Close() error {
	s.closing.Do(func() {
		var errs []error
		s.mu.Lock()
		for id, c := range s.claims {
			errs = append(errs, c.release())
			delete(s.claims, id)
		}
		s.mu.Unlock()
		// The writer is closed last: the last connection to close moves the log into the
		// database, which only a writing connection can do.
		if s.read != nil {
			errs = append(errs, closeAll(s.query.list()), s.read.Close())
		}
		if s.write != nil {
			errs = append(errs, s.write.close())
		}
		s.closeErr = s.explain("close", errors.Join(errs...))
	})
	return s.closeErr
}

// dsn returns the data source name for the driver, with the pragmas that every connection
// needs.
func (s *Store) dsn(cacheKiB int, pragmas ...string) string {
	q := url.Values{}
	// The file was created before, with our own permissions.
	q.Set("mode", "rw")
	q.Set("_error_rc", "1")
	q.Set("_dqs", "0")
	for _, pragma := range append([]string{
		"busy_timeout(" + strconv.FormatInt(s.opts.Wait.Milliseconds(), 10) + ")",
		"cache_size(-" + strconv.Itoa(cacheKiB) + ")",
		"foreign_keys(1)",
		// See the package comment for the guarantees of NORMAL.
		"synchronous(NORMAL)",
	}, pragmas...) {
		q.Add("_pragma", pragma)
	}
	// A path may contain '?', '#' or '%'; as part of a URI it is escaped.
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(s.real), RawQuery: q.Encode()}
	if !filepath.IsAbs(s.real) {
		name.Path, name.Opaque = "", (&url.URL{Path: filepath.ToSlash(s.real)}).EscapedPath()
	}
	return name.String()
}

// create creates an empty file at path and its folders, accessible only to the user, unless
// it exists.
func create(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return isFolder(path)
	case err == nil:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return unwritable(fmt.Errorf("create folder for store: %w", err))
	}
	// O_EXCL: if another process creates the file first, it is not opened here. Opening and
	// closing a database's file drops the POSIX locks that this process has on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return unwritable(fmt.Errorf("create store: %w", err))
	}
	return f.Close()
}

func isFolder(path string) error {
	return deem.WithHint(fmt.Errorf("open store: %s is a folder", path),
		"name a file in it: --db %s", filepath.Join(path, "deem.db"))
}

func unwritable(err error) error {
	return deem.WithHint(err, "check that you may write there, or name another place with --db")
}

// Path returns the path of the database, as given to [Open].
func (s *Store) Path() string { return s.path }
