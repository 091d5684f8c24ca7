package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/store"
	"deem/internal/store/internal/upgrade"
)

var update = flag.Bool("update", false, "write schema.sql anew from the migrations")

// TestSchema holds that a new database has the tables that one has that went through all
// migrations.
func TestSchema(t *testing.T) {
	migrated := emptyStore(t)
	w := writerAt(t, migrated, tables.Latest())
	t.Cleanup(func() { _ = w.close() })
	if *update {
		if err := os.WriteFile("schema.sql", []byte(dump(t, w.db)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(dump(t, w.db), schema); d != "" {
		t.Errorf("schema.sql is not what the migrations make; write it anew with -update (-want +got):\n%s", d)
	}
	made, err := emptyStore(t).openWriterDB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	if err := makeTables(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(dump(t, w.db), dump(t, made)); d != "" {
		t.Errorf("the tables of a new database are others than those of one that was migrated (-want +got):\n%s", d)
	}
	if err := tables.Up(t.Context(), made); err != nil {
		t.Errorf("a new database cannot be brought up to date: %v", err)
	}
	found, err := identify(t.Context(), made)
	if err != nil || found.mustBeCurrent() != nil {
		t.Errorf("a new database is %+v, error %v, want a current one", found, err)
	}
}

// TestMakeTablesAllOrNone holds that a database in which some tables cannot be made is
// left as it was.
func TestMakeTablesAllOrNone(t *testing.T) {
	db, err := emptyStore(t).openWriterDB()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE labels (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := makeTables(t.Context(), db); err == nil {
		t.Fatal("tables were made beside one of the same name")
	}
	found, err := identify(t.Context(), db)
	if want := (identity{strange: 1}); err != nil || found != want {
		t.Errorf("afterwards it is %+v, error %v, want %+v", found, err, want)
	}
}

// emptyStore returns a store of a file with nothing in it.
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

// dump returns the statements that make the tables of a database, in the order in which
// they were made, with their rows. When a version was reached is left out.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	all := []string{"-- What the migrations add up to. TestSchema holds it to that and writes it."}
	add := func(query string) { all = append(all, texts(t, db, query)...) }
	add("SELECT 'PRAGMA application_id = ' || application_id || ';' FROM pragma_application_id")
	add("SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid")
	for _, insert := range texts(t, db, `SELECT 'SELECT ''INSERT INTO ' || m.name || ' (' || group_concat(c.name, ', ') || ') VALUES ('' || '
		|| group_concat('quote(' || c.name || ')', ' || '', '' || ') || ' || '');'' FROM ' || m.name || ' ORDER BY 1'
		FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name <> 'sqlite_sequence' AND (m.name, c.name) NOT IN (VALUES ('goose_db_version', 'id'), ('goose_db_version', 'tstamp'))
		GROUP BY m.name ORDER BY m.name`) {
		add(insert)
	}
	return strings.Join(all, "\n\n") + "\n"
}

// texts returns the only column of a query.
func texts(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// older turns the database of s into one of an older schema, with the same rows, and
// returns its path. A database with all of its records is what a user brings along, and no
// code is left that could write one.
func older(t *testing.T, s *Store, version int64) string {
	t.Helper()
	o := emptyStore(t)
	w := writerAt(t, o, version)
	statements := []string{"ATTACH '" + s.real + "' AS new", "PRAGMA foreign_keys = OFF"}
	for _, table := range []string{"runs", "texts", "items", "replies", "records", "batches", "batch_lines", "labels"} {
		if columns := columnsOf(t, w.db, table); columns != "" {
			if table == "records" && version < 5 {
				columns = strings.Replace(columns, "calls", "coalesce(json_array_length(calls), 0)", 1)
			}
			statements = append(statements, "INSERT INTO "+table+" SELECT "+columns+" FROM new."+table)
		}
	}
	if version < 5 {
		statements = append(statements, `INSERT INTO calls SELECT n, c.key, c.value ->> 'model', c.value ->> 'request', c.value ->> 'started',
			coalesce(c.value ->> 'error', ''), coalesce(c.value ->> 'tries', 0), c.value ->> 'reply', c.value ->> 'key', c.value -> 'body',
			c.value ->> 'latency', c.value ->> 'attempts', c.value ->> 'cost_micros', c.value ->> 'unpriced', c.value ->> 'cached'
			FROM new.records, json_each(calls) c`)
	}
	for _, statement := range append(statements, "DETACH new") {
		if _, err := w.db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return o.path
}

// columnsOf lists the columns of a table, "" if there is no such table.
func columnsOf(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	return strings.Join(texts(t, db, "SELECT name FROM pragma_table_info('"+table+"') ORDER BY cid"), ", ")
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

// talkative returns a record of an item of its own with a call of every kind.
func talkative() deem.Record {
	rec := withKeys("talk", 1)[0]
	call := rec.Calls[0]
	kept, unkept := *call.Reply, *call.Reply
	kept.Key, kept.Cached, kept.Latency, kept.CostMicros = "akey7", true, 0, 0
	unkept.Key, unkept.Unpriced, unkept.Text = "", true, "\"quoted\"\n\u2028 and é"
	rec.Calls = append(rec.Calls,
		deem.Call{Model: "other", Request: "r\"2", Error: "no \\ such <model>", Attempts: 3},
		deem.Call{Model: call.Model, Request: call.Request, Started: call.Started, Reply: &unkept},
		deem.Call{Model: call.Model, Request: call.Request, Started: call.Started, Reply: &kept},
	)
	return rec
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

// TestMigrate holds that a database of any older schema keeps all it has, finds it by its
// keys, and learns what is new.
func TestMigrate(t *testing.T) {
	first := openInside(t)
	mustAppend(t, first, append(withLong(withKeys("a", 60)), talkative()))
	run := onlyRun(t, first)
	want := allRecords(t, first, run)
	batch := func(key string) store.Batch { return store.Batch{Key: key, State: store.BatchPlanned, Lines: 1} }
	label := func(i int) store.Label {
		return store.Label{Item: want[i].Item.Hash(), ID: want[i].Item.ID, Label: "yes", Yes: true, Score: 1}
	}
	if err := errors.Join(first.PutBatch(t.Context(), run, batch("a"), []store.BatchLine{{Key: "first"}}), first.PutLabels(t.Context(), []store.Label{label(0)})); err != nil {
		t.Fatal(err)
	}
	for version := range tables.Latest() {
		if version == 0 {
			continue
		}
		s, err := Open(t.Context(), older(t, first, version), Options{})
		if err != nil {
			t.Fatalf("from schema %d: %v", version, err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if d := cmp.Diff(want, allRecords(t, s, run)); d != "" {
			t.Errorf("after the migration from schema %d the records differ (-want +got):\n%s", version, d)
		}
		mustReply(t, s, "a", 60)
		mustAppend(t, s, withLong(withKeys("a", 60)))
		for table, rows := range map[string]int{"items": 61, "texts": 30, "replies": 61, "records": 121} {
			if got := count(t, s, table); got != rows {
				t.Errorf("from schema %d: %s has %d rows, want %d", version, table, got, rows)
			}
		}
		if err := checkReferences(t.Context(), s.read); err != nil {
			t.Errorf("after the migration from schema %d: %v", version, err)
		}
		if err := s.PutBatch(t.Context(), run, batch("b"), []store.BatchLine{{Key: "second"}}); err != nil {
			t.Errorf("PutBatch after the migration from schema %d: %v", version, err)
		}
		if err := s.PutLabels(t.Context(), []store.Label{label(1)}); err != nil {
			t.Errorf("PutLabels after the migration from schema %d: %v", version, err)
		}
		for table, since := range map[string]int64{"batches": 2, "batch_lines": 2, "labels": 3} {
			rows := 1
			if version >= since {
				rows = 2 // with the one that was there
			}
			if got := count(t, s, table); got != rows {
				t.Errorf("from schema %d: %s has %d rows, want %d", version, table, got, rows)
			}
		}
		var enforced bool
		if err := s.write.conn.QueryRowContext(t.Context(), "PRAGMA foreign_keys").Scan(&enforced); err != nil || enforced {
			t.Errorf("after the migration from schema %d references are looked up: %v, %v", version, enforced, err)
		}
	}
}

// TestMigrateWhileJudging holds that the tables do not change under an older deem that is
// judging, and that one which died keeps nobody out.
func TestMigrateWhileJudging(t *testing.T) {
	first := openInside(t)
	mustAppend(t, first, withKeys("a", 5))
	path := older(t, first, 4)
	claimed, err := tryLock(path + "-0123456789ab.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-fedcba987654.lock", []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func(context.Context, string, Options) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := open(t.Context(), path, Options{})
		if err == nil || !strings.Contains(err.Error(), "an older deem is judging a run") || !strings.Contains(deem.HintOf(err), "this process is at it; wait for it") {
			t.Errorf("%s: error %v with the hint %q, want one about who judges", what, err, deem.HintOf(err))
		}
	}
	if err := claimed.release(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// An older deem that was idle writes how many calls a record has.
	if _, err := s.write.conn.ExecContext(t.Context(), "UPDATE records SET calls = 0"); err == nil {
		t.Error("a number of calls was taken for calls")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
		t.Errorf("%v are left, error %v", left, err)
	}
}

// TestReadOlderFull holds that who only reads is told why an older database could not be
// brought up to date.
func TestReadOlderFull(t *testing.T) {
	first := openInside(t)
	mustAppend(t, first, withKeys("a", 200))
	path := older(t, first, 4)
	_, err := OpenReadOnly(t.Context(), path, Options{MaxPages: 40})
	if !errors.Is(err, upgrade.ErrOlder) || !strings.Contains(err.Error(), "full") || !strings.Contains(deem.HintOf(err), "space") {
		t.Errorf("error %v with the hint %q, want that it is old and the disk full", err, deem.HintOf(err))
	}
}

// TestReadOlder holds that who only reads an older database has it brought up to date,
// and where it cannot be written is told so.
func TestReadOlder(t *testing.T) {
	first := openInside(t)
	mustAppend(t, first, withKeys("a", 5))
	run := onlyRun(t, first)
	want, path := allRecords(t, first, run), older(t, first, 4)
	locked, err := waitLock(t.Context(), path+"-migrate.lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path, Options{Wait: time.Millisecond}); !errors.Is(err, upgrade.ErrOlder) || deem.HintOf(err) == "" {
		t.Errorf("while it cannot be brought up to date the error is %v, want %v with a hint", err, upgrade.ErrOlder)
	}
	if err := locked.release(); err != nil {
		t.Fatal(err)
	}
	s, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if d := cmp.Diff(want, allRecords(t, s, run)); d != "" {
		t.Errorf("the records differ (-want +got):\n%s", d)
	}
}

// TestMigrateKeysTwice holds that the migration to tables of keys, which has no
// transaction, can be made a second time, because the process was killed before it was
// noted.
func TestMigrateKeysTwice(t *testing.T) {
	first := openInside(t)
	mustAppend(t, first, withLong(withKeys("a", 60)))
	want := allRecords(t, first, onlyRun(t, first))
	path := older(t, first, 3)
	half := emptyStore(t)
	half.real = path
	w := writerAt(t, half, 4)
	if _, err := w.db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id = 4"); err != nil {
		t.Fatal(err)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if d := cmp.Diff(want, allRecords(t, s, onlyRun(t, s))); d != "" {
		t.Errorf("after the migration the records differ (-want +got):\n%s", d)
	}
	mustReply(t, s, "a", 60)
	for table, rows := range map[string]int{"item_keys": 60, "text_keys": 30, "reply_keys": 60} {
		if got := count(t, s, table); got != rows {
			t.Errorf("%s has %d rows, want %d", table, got, rows)
		}
	}
}

// onlyRun returns the id of the only run.
func onlyRun(t *testing.T, s *Store) (id string) {
	t.Helper()
	for r, err := range s.Runs(t.Context()) {
		if err != nil || id != "" {
			t.Fatalf("want one run: %v", err)
		}
		id = r.ID
	}
	return id
}
