package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/internal/store"
	"deem/internal/test/storetest"
)

// TestSchemaKeepsPromises checks that SQLite itself refuses a second record of a run, item
// and trial, a second row with the same hash or key, and a row that refers to a missing
// row.
func TestSchemaKeepsPromises(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withLong(withKeys("a", 3)))
	copyOf := func(table, columns, changed string) string {
		return "INSERT INTO " + table + " (" + columns + ") SELECT " + changed + " FROM " + table + " LIMIT 1"
	}
	const record = "run, item, item_id, position, trial, category, cluster, weight, judge, label, score, kind, calls, sum"
	const reply = "key, body, latency, attempts, cost_micros, unpriced, sum"
	const call = "record, seq, model, request, error, tries, reply, sum"
	for _, tt := range []struct{ statement, constraint string }{
		{copyOf("records", record, record), "UNIQUE"},
		{copyOf("items", "hash, body", "hash, 'other'"), "UNIQUE"},
		{copyOf("texts", "hash, body", "hash, 'other'"), "UNIQUE"},
		{copyOf("replies", reply, reply), "UNIQUE"},
		{copyOf("calls", call, call), "UNIQUE"},
		{copyOf("item_texts", "item, place, text", "item, place, text"), "UNIQUE"},
		{copyOf("records", record, strings.Replace(record, "run, item, item_id", "99, item, 'other'", 1)), "FOREIGN KEY"},
		{copyOf("records", record, strings.Replace(record, "item, item_id", "99, 'other'", 1)), "FOREIGN KEY"},
		{copyOf("calls", call, strings.Replace(call, "record", "99", 1)), "FOREIGN KEY"},
		{copyOf("calls", call, strings.Replace(strings.Replace(call, "seq", "7", 1), "reply", "99", 1)), "FOREIGN KEY"},
		{copyOf("item_texts", "item, place, text", "99, place, text"), "FOREIGN KEY"},
		{copyOf("item_texts", "item, place, text", "item, 'other', 99"), "FOREIGN KEY"},
		{"INSERT INTO batches (run, key, id, state, lines, most_micros) VALUES (99, '', '', 'planned', 0, 0)", "FOREIGN KEY"},
		{"INSERT INTO money (run, holder, spent, reserved) VALUES (99, '', 0, 0)", "FOREIGN KEY"},
		{"DELETE FROM items WHERE n = 1", "FOREIGN KEY"},
		{"DELETE FROM replies WHERE n = 1", "FOREIGN KEY"},
		{"DELETE FROM runs", "FOREIGN KEY"},
	} {
		if _, err := s.write.conn.ExecContext(t.Context(), tt.statement); err == nil || !strings.Contains(err.Error(), tt.constraint+" constraint failed") {
			t.Errorf("%s: error = %v, want a %s constraint", tt.statement, err, tt.constraint)
		}
	}
	if _, err := s.write.conn.ExecContext(t.Context(), copyOf("records", record, strings.Replace(record, "item_id", "'other'", 1))); err != nil {
		t.Errorf("a record that breaks no rule was refused: %v", err)
	}
}

// TestAppendOnce appends records from two stores in turn, and then all of them again. No
// text, item or reply may be duplicated, and each store finds the replies of the other.
func TestAppendOnce(t *testing.T) {
	const part, parts = 10, 6
	s := openInside(t)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // TestStore has it.
	stores := []*Store{s, other}
	for round := range 2 {
		for i := range parts {
			prefix := fmt.Sprint("p", i, "-")
			mustAppend(t, stores[(i+round)%2], withLong(withKeys(prefix, part)))
			mustReply(t, stores[(i+round)%2], prefix, part)
			time.Sleep(filterAge)
			mustReply(t, stores[(i+round+1)%2], prefix, part)
		}
	}
	for table, want := range map[string]int{"items": part * parts, "replies": part * parts, "texts": part / 2} {
		if got := count(t, s, table); got != want {
			t.Errorf("there are %d %s, want %d", got, table, want)
		}
	}
}

// withKeys returns n records whose replies have different keys.
func withKeys(prefix string, n int) []deem.Record {
	recs := make([]deem.Record, n)
	for i := range recs {
		recs[i] = storetest.Record(i)
		recs[i].Item.ID = fmt.Sprint(prefix, i)
		r := *recs[i].Calls[0].Reply
		r.Key = fmt.Sprint(prefix, "key", i)
		recs[i].Calls = []deem.Call{recs[i].Calls[0]}
		recs[i].Calls[0].Reply = &r
	}
	return recs
}

func mustAppend(t *testing.T, s *Store, recs []deem.Record) {
	t.Helper()
	run, _, err := s.Begin(t.Context(), storetest.Spec(s.path+recs[0].Item.ID), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(run.ID); err != nil {
		t.Fatal(err)
	}
}

// mustReply checks that the store has each of the keys, and none of as many others.
func mustReply(t *testing.T, s *Store, prefix string, n int) {
	t.Helper()
	for i := range n {
		if _, ok, err := s.Reply(t.Context(), fmt.Sprint(prefix, "key", i)); !ok || err != nil {
			t.Fatalf("Reply(%skey%d) = %v, %v, want one", prefix, i, ok, err)
		}
		if _, ok, err := s.Reply(t.Context(), fmt.Sprint(prefix, "no", i)); ok || err != nil {
			t.Fatalf("Reply(%sno%d) = %v, %v, want none", prefix, i, ok, err)
		}
	}
}

// withLong gives each record a long text; every second one is shared.
func withLong(recs []deem.Record) []deem.Record {
	for i := range recs {
		recs[i].Item.Response = storetest.Text(fmt.Sprint("response", i/2), store.LongBytes)
	}
	return recs
}

// TestAppendUndone checks that an append that is rolled back leaves nothing behind that a
// later one could refer to.
func TestAppendUndone(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 10))
	recs := withKeys("b", 10)
	if _, err := s.write.conn.ExecContext(t.Context(), `CREATE TEMP TRIGGER no BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	run, _, err := s.Begin(t.Context(), storetest.Spec("b"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), run.ID, recs); err == nil {
		t.Fatal("the append succeeded")
	}
	if _, ok, err := s.Reply(t.Context(), recs[0].Calls[0].Reply.Key); ok || err != nil {
		t.Errorf("Reply = %v, %v, want none", ok, err)
	}
	if _, err := s.write.conn.ExecContext(t.Context(), `DROP TRIGGER no`); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, withKeys("c", 10))
	if err := s.Append(t.Context(), run.ID, recs); err != nil {
		t.Fatal(err)
	}
	mustReply(t, s, "b", 10)
	mustReply(t, s, "c", 10)
	if got := count(t, s, "items"); got != 30 {
		t.Errorf("there are %d items, want 30", got)
	}
}
