package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"deem"
)

// The search index is a separate database next to that of the runs, deem.db.search: writing
// it never delays a run that another process is judging. It is derived from the records,
// contains nothing else, and may be deleted at any time. If the file is damaged, belongs to
// another version of deem, or was made from another database, it is silently replaced.
//
// It is opened for each slice of indexing and each search, which takes a millisecond or
// two, and closed again: so it may be deleted or replaced in between. Two processes that
// index concurrently take turns.
//
// If no file can be created next to the database, for example on a read-only disk, the
// index is in a temporary folder, and removed when the store is closed.

const (
	// searchSuffix is appended to the name of the database.
	searchSuffix = ".search"

	// searchID is "dems" in ASCII, and distinguishes the file from those of other programs.
	searchID = 1684368755

	// searchVersion changes whenever the content or format of the index changes. An index
	// of another version is rebuilt.
	searchVersion = 1
)

// The index has two tables of words, by the numbers of items and of records: an item is
// indexed once, however many runs share it. Next to them is a fingerprint of the text
// indexed under each number, which shows whether it is up to date.
//
// The texts of a number are one column, with a separator that no phrase matches across.
// FTS5 stores only the words and not the texts.
var searchSchema = []string{
	`CREATE TABLE about (source TEXT NOT NULL) STRICT`,
	`CREATE TABLE runs (
		run      INTEGER PRIMARY KEY,
		checked  TEXT    NOT NULL, -- what the run was like when all of it was last known to be in
		pass     TEXT    NOT NULL, -- what it was like when the pass began that is under way
		done     INTEGER NOT NULL, -- records that were in after the last pass
		passed   INTEGER NOT NULL, -- records that this pass has seen
		position INTEGER NOT NULL, trial INTEGER NOT NULL, record INTEGER NOT NULL, -- the last of them
		low_item INTEGER NOT NULL, high_item INTEGER NOT NULL,    -- between them lie
		low_record INTEGER NOT NULL, high_record INTEGER NOT NULL -- the numbers of the run
	) STRICT`,
	`CREATE TABLE items (n INTEGER PRIMARY KEY, print INTEGER NOT NULL) STRICT`,
	`CREATE TABLE records (n INTEGER PRIMARY KEY, print INTEGER NOT NULL) STRICT`,
	createWords("item_words"),
	createWords("record_words"),
	// Fewer, larger segments: a slice is written at once, and segments are merged only when
	// there are sixteen. That halves the time of indexing. FTS5 merges a little with every
	// slice, but when it falls behind it merges all of a level at once, which takes
	// seconds; so it may fall further behind.
	`INSERT INTO item_words (item_words, rank) VALUES ('hashsize', 8388608), ('automerge', 16), ('crisismerge', 256)`,
	`INSERT INTO record_words (record_words, rank) VALUES ('hashsize', 8388608), ('automerge', 16), ('crisismerge', 256)`,
	fmt.Sprintf("PRAGMA application_id = %d", searchID),
	fmt.Sprintf("PRAGMA user_version = %d", searchVersion),
}

// createWords creates a table of words. Marks count as parts of words, because the vowels
// of Indian scripts are marks; accents are removed nevertheless.
func createWords(name string) string {
	return "CREATE VIRTUAL TABLE " + name + ` USING fts5(words, content='', contentless_delete=1,
		tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'")`
}

// searchCache is the page cache of the index in KiB while it is open.
const searchCache = 4 << 10

// A searcher locates the search index. The zero value is ready for use.
type searcher struct {
	turn sync.Mutex // held while this process indexes, so that it does not wait for itself

	slice time.Duration // how long one call of Index adds words; 0 means indexSlice

	mu   sync.Mutex
	temp string // the temporary folder; "" while the index is next to the database
}

// place returns the path of the index. The caller holds the lock.
func (x *searcher) place(s *Store) string {
	if x.temp != "" {
		return filepath.Join(x.temp, "deem.db"+searchSuffix)
	}
	return s.real + searchSuffix
}

// giveUp moves an index that cannot be at the given path to a temporary folder. It fails if
// it is already there.
func (x *searcher) giveUp(s *Store, path string, why error) (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case path != x.place(s):
		return nil // Another goroutine did it first.
	case x.temp != "":
		return why
	}
	if x.temp, err = os.MkdirTemp("", "deem-search-"); err != nil {
		return deem.WithHint(fmt.Errorf("keep the index of words: %w; nor for the time being: %w", why, err),
			"make the folder of the database one that you may write to, or set TMPDIR to one")
	}
	return nil
}

// errStrange means that the file is not an index of this database.
var errStrange = errors.New("it is not an index of this database")

// withSearch opens the index, creating it if necessary, and calls do with it. If the index
// turns out to be damaged, it is rebuilt, and do is called once more.
func (s *Store) withSearch(ctx context.Context, do func(*sql.DB) error) error {
	// The source is the first run, whose start never changes. A database that was deleted and
	// recreated numbers its items anew.
	var source string
	err := s.read.QueryRowContext(ctx, `SELECT id || ' ' || created FROM runs ORDER BY n LIMIT 1`).Scan(&source)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	// A few attempts are enough: an index is missing or damaged, then cannot be created in
	// its place, and is created elsewhere.
	for attempt := 0; ; attempt++ {
		s.search.mu.Lock()
		path := s.search.place(s)
		s.search.mu.Unlock()
		before, _ := os.Stat(path) //nolint:errcheck // nil if there is none.
		err := s.openSearch(ctx, path, source, do)
		if err == nil || attempt == 3 || ctx.Err() != nil || !beyondUse(err) {
			return err
		}
		if makeErr := s.makeSearch(ctx, path, source, before); makeErr != nil {
			if err := s.search.giveUp(s, path, makeErr); err != nil {
				return err
			}
		}
	}
}

// beyondUse reports whether err means that the file should be replaced. A damaged length
// may exceed the available memory.
func beyondUse(err error) bool {
	return errors.Is(err, errStrange) || hasCode(err, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FORMAT)
}

// openSearch opens the index at path, checks that it is one of the database with the given
// source, and calls do with it.
func (s *Store) openSearch(ctx context.Context, path, source string, do func(*sql.DB) error) (err error) {
	db, err := s.searchDB(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var id, version int64
	row := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)`)
	if err := row.Scan(&id, &version); err != nil {
		return err
	}
	if id != searchID || version != searchVersion {
		return errStrange
	}
	var of string
	err = db.QueryRowContext(ctx, `SELECT source FROM about`).Scan(&of)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && of != source:
		return errStrange
	case hasCode(err, sqlite3.SQLITE_ERROR):
		return errors.Join(errStrange, err) // It has no such table.
	case err != nil:
		return err
	}
	return do(db)
}

// searchDB returns the database at path, with one connection.
func (s *Store) searchDB(path string) (*sql.DB, error) {
	there := &Store{real: path, opts: Options{Wait: searchWait}}
	db, err := sql.Open("sqlite", there.dsn(searchCache, "wal_autocheckpoint(2048)", "temp_store(MEMORY)"))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// searchWait is how long to wait for another process that has the index locked while
// creating or closing it. That takes milliseconds, unless the disk is very busy.
const searchWait = 10 * time.Second

// makeSearch creates a new index at path, replacing the file that was there before. If
// another process was faster, its file is kept.
func (s *Store) makeSearch(ctx context.Context, path, source string, before fs.FileInfo) (err error) {
	lock, err := waitLock(ctx, path+".lock", searchWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	now, err := os.Stat(path)
	if err == nil && (before == nil || !os.SameFile(before, now)) {
		return nil
	}
	// It is created under another name, so that no process sees an incomplete one, and while
	// the old file exists: otherwise the system may give both the same number, and a process
	// that waits here takes the new one for the old.
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := create(fresh); err != nil {
		return err
	}
	if err := s.fillSearch(ctx, fresh, source); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, os.Remove(fresh))
		}
	}
	return os.Rename(fresh, path)
}

// fillSearch creates the tables of a new index.
func (s *Store) fillSearch(ctx context.Context, path, source string) (err error) {
	db, err := s.searchDB(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range append([]string{"PRAGMA journal_mode = WAL"}, searchSchema...) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, `INSERT INTO about (source) VALUES (?)`, source)
	return err
}
