package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	driver "modernc.org/sqlite" // It registers itself as "sqlite".
	sqlite3 "modernc.org/sqlite/lib"

	"deem"
)

// A trouble is the meaning of an SQLite error code for the user, and what to do about it.
type trouble struct {
	says   string
	advice string
}

var damaged = trouble{
	"the database is damaged",
	"restore a copy of it, or move it away and run the command again; `sqlite3 FILE .recover` saves what can be read",
}

// troubles are by primary code. The low byte of an extended code is its primary code.
var troubles = map[int]trouble{
	sqlite3.SQLITE_FULL: {
		"the disk is full",
		"free some space and run the command again; everything committed so far is kept",
	},
	sqlite3.SQLITE_NOTADB: {
		"it is not a database",
		"name another file with --db, or move this one away",
	},
	sqlite3.SQLITE_CORRUPT: damaged,
	sqlite3.SQLITE_BUSY: {
		"another process has the database locked",
		"wait for it to finish, or stop it, and run the command again",
	},
	sqlite3.SQLITE_READONLY: {
		"the database may not be written",
		"check the permissions of the file and its folder, or name another place with --db",
	},
	sqlite3.SQLITE_CANTOPEN: {
		"the database cannot be opened",
		"check the permissions of the file and its folder, or name another place with --db",
	},
	sqlite3.SQLITE_IOERR: {
		"the disk cannot be read or written",
		"check the disk and the space on it; everything committed so far is kept if the disk is sound",
	},
}

// hasCode reports whether err is an SQLite error with one of the given primary codes.
func hasCode(err error, codes ...int) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && slices.Contains(codes, e.Code()&0xff)
}

// explain adds the operation, the store and the meaning of an SQLite error. An error that
// already has a hint keeps it.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf("%s store %s", doing, s.path)
	if e, ok := errors.AsType[*driver.Error](err); ok && deem.HintOf(err) == "" {
		if t, ok := troubles[e.Code()&0xff]; ok {
			return deem.WithHint(fmt.Errorf("%s: %s: %w", where, t.says, err), "%s", t.advice)
		}
		if text := err.Error(); strings.Contains(text, "no such column") || strings.Contains(text, "no such table") {
			return deem.WithHint(fmt.Errorf("%s: it was made by another version of deem: %w", where, err), "move the file away to start a new one")
		}
	}
	return fmt.Errorf("%s: %w", where, err)
}
