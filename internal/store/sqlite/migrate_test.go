package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
)

// older turns the database of s into one of schema 3, with the same rows, and returns
// its path. A database with all of its records is what a user brings along, and no
// code is left that could write one.
func older(t *testing.T, s *Store) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "older.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	o, err := newStore(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := writerAt(t, o, 3)
	for _, statement := range []string{
		"ATTACH '" + s.real + "' AS new", "PRAGMA foreign_keys = OFF",
		"INSERT INTO runs SELECT * FROM new.runs", "INSERT INTO texts SELECT * FROM new.texts",
		"INSERT INTO items SELECT * FROM new.items", "INSERT INTO replies SELECT * FROM new.replies",
		"INSERT INTO records SELECT * FROM new.records", "INSERT INTO calls SELECT * FROM new.calls", "DETACH new",
	} {
		if _, err := w.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// writerAt opens the connection that writes on a database that is brought to the given
// version of the schema.
func writerAt(t *testing.T, s *Store, version int64) *writer {
	t.Helper()
	db, err := s.openWriterDB()
	if err != nil {
		t.Fatal(err)
	}
	if err := tables.UpTo(t.Context(), db, version); err != nil {
		t.Fatal(err)
	}
	return &writer{db: db}
}

func allRecords(t *testing.T, s *Store, runID string) (recs []deem.Record) {
	t.Helper()
	for rec, err := range s.Records(t.Context(), runID, store.Query{WithCalls: true}) {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	return recs
}

// TestMigrateKeys holds that a database of before there were tables of keys keeps all
// it has and finds it by its keys; also when the migration is made a second time,
// because the process was killed before it was noted.
func TestMigrateKeys(t *testing.T) {
	first := openInside(t)
	recs := withLong(withKeys("a", 60))
	mustAppend(t, first, recs)
	var run string
	for r, err := range first.Runs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		run = r.ID
	}
	want := allRecords(t, first, run)
	path := older(t, first)
	for range 2 {
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, allRecords(t, s, run)); d != "" {
			t.Errorf("after the migration the records differ (-want +got):\n%s", d)
		}
		mustReply(t, s, "a", 60)
		mustAppend(t, s, withLong(withKeys("a", 60)))
		for table, rows := range map[string]int{"items": 60, "texts": 30, "replies": 60, "item_keys": 60, "text_keys": 30, "reply_keys": 60} {
			if got := count(t, s, table); got != rows {
				t.Errorf("%s has %d rows, want %d", table, got, rows)
			}
		}
		if _, err := s.write.conn.ExecContext(t.Context(), "DELETE FROM items"); err == nil {
			t.Error("items that records refer to were removed")
		}
		if _, err := s.write.conn.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id = 4"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
