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

// The index of words is a database of its own beside that of the runs, deem.db.search:
// writing it never holds up a run that is being judged in another process. It is
// made from the records, knows nothing that they do not say, and may be deleted at any
// time. A file of that name that is damaged, of another deem, or made from another
// database is replaced by a new one without a word.
//
// It is opened for each slice of indexing and each search, which takes a millisecond or
// two, and closed again: so it is no matter who deletes or replaces it in between. Two
// processes that index at once take turns.
//
// Where no file can be made beside the database, as on a disk that is only read, the
// index is in a folder for temporary files, and goes when the store is closed.

const (
	// searchSuffix is what the name of the index adds to that of the database.
	searchSuffix = ".search"

	// searchID is "dems" in ASCII, and tells the file from those of other programs.
	searchID = 1684368755

	// searchVersion changes whenever what is indexed, or how, changes. An index of
	// another version is made anew.
	searchVersion = 1
)

// The index has two tables of words, by the numbers of items and of records: an item is
// in it once, however many runs share it. Beside them stands a print of what was
// indexed under each number, which tells whether it is still what the records say.
//
// The texts of a number are one column, with a sign between them that no phrase goes
// over. FTS5 keeps the words alone and not the texts.
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
	// Fewer, larger pieces: a slice is written at once, and pieces are put together only
	// when there are sixteen. That halves the time that indexing takes. FTS5 does so a
	// little with every slice, but when it falls behind it puts all of a level together
	// at once, which takes seconds; it is let fall further behind.
	`INSERT INTO item_words (item_words, rank) VALUES ('hashsize', 8388608), ('automerge', 16), ('crisismerge', 256)`,
	`INSERT INTO record_words (record_words, rank) VALUES ('hashsize', 8388608), ('automerge', 16), ('crisismerge', 256)`,
	fmt.Sprintf("PRAGMA application_id = %d", searchID),
	fmt.Sprintf("PRAGMA user_version = %d", searchVersion),
}

// createWords makes a table of words. Marks count as parts of words, because the vowels
// of Indian scripts are marks; accents are taken off all the same.
func createWords(name string) string {
	return "CREATE VIRTUAL TABLE " + name + ` USING fts5(words, content='', contentless_delete=1,
		tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'")`
}

// searchCache is the page cache of the index in KiB while it is open.
const searchCache = 4 << 10

// A searcher knows where the index of words is. The zero value is ready for use.
type searcher struct {
	turn sync.Mutex // held while this process indexes, so that it does not wait for itself

	slice time.Duration // how long one call of Index adds words; 0 means indexSlice

	mu   sync.Mutex
	temp string // the folder for temporary files; "" while the index is beside the database
}

// place returns where the index is.
func (x *searcher) place(s *Store) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.temp != "" {
		return filepath.Join(x.temp, "deem.db"+searchSuffix)
	}
	return s.real + searchSuffix
}

// giveUp moves the index that cannot be at the given path to a temporary folder. It
// fails if it is there already.
func (x *searcher) giveUp(s *Store, path string, why error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.temp == "" && path == s.real+searchSuffix:
		var err error
		if x.temp, err = os.MkdirTemp("", "deem-search-"); err != nil {
			return deem.WithHint(fmt.Errorf("keep the index of words: %w; nor for the time being: %w", why, err),
				"make the folder of the database one that you may write to, or set TMPDIR to one")
		}
		return nil
	case path != filepath.Join(x.temp, "deem.db"+searchSuffix):
		return nil // Somebody else gave it up first.
	}
	return why
}

// close removes what was temporary.
func (x *searcher) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.temp == "" {
		return nil
	}
	defer func() { x.temp = "" }()
	return os.RemoveAll(x.temp)
}

// errStrange means that the file is not an index of this database.
var errStrange = errors.New("it is not an index of this database")

// withSearch opens the index, makes it if need be, and lets do work with it. If the
// index turns out to be damaged it is made anew, and do is called once more.
func (s *Store) withSearch(ctx context.Context, do func(*sql.DB) error) error {
	source, err := s.searchSource(ctx)
	if err != nil {
		return err
	}
	// A few times are enough: an index is missing or damaged, then cannot be made where it
	// should be, and is made elsewhere.
	for attempt := 0; ; attempt++ {
		path := s.search.place(s)
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

// beyondUse reports whether err says that another file would do better. A length that is
// damaged may be that of more memory than there is.
func beyondUse(err error) bool {
	return errors.Is(err, errStrange) || hasCode(err, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOMEM,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FORMAT)
}

// searchSource returns what tells this database from others: its first run, which
// stays as it was begun. A database that was deleted and begun anew numbers its items
// anew.
func (s *Store) searchSource(ctx context.Context) (string, error) {
	var source string
	err := s.read.QueryRowContext(ctx, `SELECT id || ' ' || created FROM runs ORDER BY n LIMIT 1`).Scan(&source)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return source, err
}

// openSearch opens the index at path and lets do work with it.
func (s *Store) openSearch(ctx context.Context, path, source string, do func(*sql.DB) error) (err error) {
	db, err := s.searchDB(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := mustBeSearch(ctx, db, source); err != nil {
		return err
	}
	return do(db)
}

// searchDB returns the database at path, which is one connection.
func (s *Store) searchDB(path string) (*sql.DB, error) {
	there := &Store{real: path, opts: Options{Wait: searchWait}}
	db, err := sql.Open("sqlite", there.dsn(searchCache, "wal_autocheckpoint(2048)", "temp_store(MEMORY)"))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// searchWait is how long to wait for another process that has the index to itself, while
// it makes or closes it. That takes milliseconds, unless the disk is very busy.
const searchWait = 10 * time.Second

// mustBeSearch refuses what is not an index of the database with the given source.
func mustBeSearch(ctx context.Context, db *sql.DB, source string) error {
	var id, version int64
	row := db.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)`)
	if err := row.Scan(&id, &version); err != nil {
		return err
	}
	if id != searchID || version != searchVersion {
		return errStrange
	}
	var of string
	err := db.QueryRowContext(ctx, `SELECT source FROM about`).Scan(&of)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && of != source:
		return errStrange
	case hasCode(err, sqlite3.SQLITE_ERROR):
		return errors.Join(errStrange, err) // It has no such table.
	}
	return err
}

// makeSearch puts a new index at path, in place of the file that was there before. If
// another process was faster, its file is left alone.
func (s *Store) makeSearch(ctx context.Context, path, source string, before fs.FileInfo) error {
	lock, err := waitLock(ctx, path+".lock", searchWait)
	if err != nil {
		return err
	}
	err = s.makeSearchLocked(ctx, path, source, before)
	return errors.Join(err, lock.release())
}

func (s *Store) makeSearchLocked(ctx context.Context, path, source string, before fs.FileInfo) error {
	now, err := os.Stat(path)
	if err == nil && (before == nil || !os.SameFile(before, now)) {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// It is made under another name, so that nobody finds half of it.
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
	return os.Rename(fresh, path)
}

// fillSearch makes the tables of a new index.
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
