package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem"
)

// TestNextMigration checks that adding a file is all that a migration takes: an older
// database keeps its rows and gets the new tables, and opening it for reading returns a
// hint.
func TestNextMigration(t *testing.T) {
	path := openInside(t).path
	before, now := steps, latest
	t.Cleanup(func() { steps, latest = before, now })
	steps, latest = slices.Concat(before, []string{"CREATE TABLE more (n INTEGER); INSERT INTO more VALUES (7);"}), now+1
	_, err := OpenReadOnly(t.Context(), path, Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("older deem (schema %d, this deem reads %d)", now, now+1)) || deem.HintOf(err) == "" {
		t.Errorf("OpenReadOnly of an older database: error %v, want one with a hint", err)
	}
	for range 2 { // The second time there is nothing to do.
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := count(t, s, "more"); got != 1 {
			t.Errorf("the new table has %d rows, want 1", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestApplyAllOrNone checks that a failed migration leaves the database unchanged.
func TestApplyAllOrNone(t *testing.T) {
	db, err := emptyStore(t).openWriterDB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	before, now := steps, latest
	t.Cleanup(func() { steps, latest = before, now })
	steps, latest = slices.Concat(before, []string{"CREATE TABLE labels (n INTEGER)"}), now+1
	if err := apply(t.Context(), db); err == nil {
		t.Fatal("a table was made twice")
	}
	if found, err := identify(t.Context(), db); err != nil || found != (identity{}) {
		t.Errorf("afterwards it is %+v, error %v, want an empty file", found, err)
	}
}

// emptyStore returns a store of an empty file.
func emptyStore(t *testing.T) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deem.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	s, err := newStore(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
