package sqlite

import (
	"fmt"
	"testing"
	"time"

	"deem"
	"deem/internal/store/storetest"
)

// keyed returns n records whose replies have keys of their own.
func keyed(prefix string, n int) []deem.Record {
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
}

// mustReply holds that the store has each of the keys, and none of as many others.
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

// TestFilter holds that the filter denies no reply: not one that was there before, nor
// one that was appended here or, a moment ago, by another process.
func TestFilter(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, keyed("old", 200))
	mustReply(t, s, "old", 200)
	mustAppend(t, s, keyed("new", 200))
	mustReply(t, s, "new", 200)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // TestStore has it.
	mustReply(t, other, "old", 200)
	mustAppend(t, other, keyed("other", 200))
	time.Sleep(filterAge)
	mustReply(t, s, "other", 200)
	mustAppend(t, s, keyed("last", 50))
	mustReply(t, s, "last", 50)
	if s.filter.off || s.filter.last != 650 {
		t.Errorf("the filter has seen %d replies, off %v, want 650", s.filter.last, s.filter.off)
	}
}

// TestFilterSpares holds that a key that is not there costs no query, or the filter is
// worth nothing.
func TestFilterSpares(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, keyed("a", 1000))
	sent := 0
	for i := range 1000 {
		if may, err := s.mayHold(t.Context(), fmt.Sprint("none", i)); err != nil {
			t.Fatal(err)
		} else if may {
			sent++
		}
	}
	if sent > 5 {
		t.Errorf("%d of 1,000 keys that are not there were sent to the database", sent)
	}
}

// TestFilterTooLarge holds that a cache that is too large to be read in is asked.
func TestFilterTooLarge(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, keyed("a", 10))
	if _, err := s.write.conn.ExecContext(t.Context(), "UPDATE replies SET n = n + ?", filterKeys); err == nil {
		t.Fatal("replies that calls refer to were moved")
	}
	if _, err := s.write.conn.ExecContext(t.Context(), "INSERT INTO replies VALUES (?, 'far', '{}', 0, 1, 0, 0)", filterKeys+100); err != nil {
		t.Fatal(err)
	}
	mustReply(t, s, "a", 10)
	if !s.filter.off {
		t.Error("a cache with high numbers was read in")
	}
}
