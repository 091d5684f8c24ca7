package sqlite

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// TestPlans checks that SQLite reads every page along an index, in order. A plan that sorts
// reads the whole run for every page, which goes unnoticed in a small run.
func TestPlans(t *testing.T) {
	s := openInside(t)
	long := make([]string, fewIDs+1)
	for _, tt := range []struct {
		q     store.Query
		index string
	}{
		{store.Query{}, "records_position"},
		{store.Query{Brief: true}, "records_position"},
		{store.Query{WithCalls: true}, "records_position"},
		{store.Query{Brief: true, WithCalls: true}, "records_position"},
		{store.Query{Unjudged: true, WithCalls: true}, "records_unjudged"},
		{store.Query{Trial: new(0)}, "records_position"},
		{store.Query{Labels: []string{"a"}}, "records_position"},
		{store.Query{Labels: []string{"a", "b"}}, "records_position"},
		{store.Query{Categories: []string{"a"}}, "records_position"},
		{store.Query{Categories: []string{"a", "b"}}, "records_position"},
		{store.Query{Unjudged: true}, "records_unjudged"},
		{store.Query{Kinds: []deem.Kind{deem.Empty}}, "records_unjudged"},
		{store.Query{Kinds: []deem.Kind{deem.Empty, deem.Timeout}, Trial: new(1)}, "records_unjudged"},
		{store.Query{IDs: long}, "records_position"},
	} {
		plan := explainPlan(t, s, tt.q)
		if !strings.Contains(plan, tt.index+" (run=?") || strings.Contains(plan, "FOR ORDER BY") {
			t.Errorf("%+v is read by %s, want the index %s and no sorting", tt.q, plan, tt.index)
		}
	}
	if plan := explainPlan(t, s, store.Query{IDs: []string{"a", "b"}}); !strings.Contains(plan, "records_item (run=? AND item_id=?") {
		t.Errorf("two ids are read by %s, want the index records_item", plan)
	}
}

func openInside(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "deem.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func explainPlan(t *testing.T, s *Store, q store.Query) string {
	t.Helper()
	query, args := recordQuery(1, q)
	return planOf(t, s, query, append(args, -1, 0, 0)...)
}

// planOf returns the query plan of SQLite.
func planOf(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it.
	var plan []string
	for rows.Next() {
		var step string
		if err := rows.Scan(new(int), new(int), new(int), &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "; ")
}

// TestExplain makes SQLite return errors that a test running as root cannot get from the
// file system.
func TestExplain(t *testing.T) {
	s := openInside(t)
	for _, tt := range []struct{ dsn, statement, says, advice string }{
		{"file:" + s.real + "?mode=ro", "DELETE FROM runs", "may not be written", "permissions"},
		{"file:" + filepath.Join(t.TempDir(), "no.db") + "?mode=rw", "DELETE FROM runs", "cannot be opened", "permissions"},
		{"file:" + s.real, "DELETE FROM nowhere", "another version of deem", "move the file"},
	} {
		db, err := sql.Open("sqlite", tt.dsn)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), tt.statement)
		err = s.explain("open", err)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(deem.HintOf(err), tt.advice) {
			t.Errorf("%s: %v with hint %q, want %q and %q", tt.dsn, err, deem.HintOf(err), tt.says, tt.advice)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	hinted := deem.WithHint(fs.ErrNotExist, "look elsewhere")
	if got := deem.HintOf(s.explain("open", hinted)); got != "look elsewhere" {
		t.Errorf("hint = %q, want the one the error had", got)
	}
	if err := s.explain("open", nil); err != nil {
		t.Errorf("explain(nil) = %v, want nil", err)
	}
}

// TestSchemaKeepsTheLaw checks that not even SQL can give a failure a score, or a record
// neither verdict nor failure.
func TestSchemaKeepsTheLaw(t *testing.T) {
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec(""), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, []deem.Record{storetest.Record(0), storetest.Failed(1, deem.Empty)}); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{
		"score = 0 WHERE kind = 'empty'", "kind = 'empty' WHERE score = 0", "score = NULL WHERE score = 0",
		"kind = NULL WHERE kind = 'empty'", "label = NULL WHERE label IS NOT NULL", "score = 'high' WHERE score = 0",
	} {
		if _, err := s.write.conn.ExecContext(t.Context(), "UPDATE records SET "+set); err == nil ||
			!strings.Contains(fmt.Sprint(err), "constraint") {
			t.Errorf("UPDATE records SET %s: error = %v, want a constraint", set, err)
		}
	}
}

// TestTablesChanged checks that a store whose tables were changed externally returns an
// error each time, and can be closed.
func TestTablesChanged(t *testing.T) {
	s := openInside(t)
	run, _, err := s.Begin(t.Context(), storetest.Spec("x"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.conn.ExecContext(t.Context(), "ALTER TABLE records RENAME COLUMN detail TO details"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Append(t.Context(), run.ID, withKeys("a", 3)); err == nil {
			t.Error("a record went into a table that has no place for it")
		}
	}
}
