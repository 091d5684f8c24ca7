package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"deem"
	"deem/internal/store/internal/body"
	"deem/internal/store/storetest"
)

// withKeys returns n records whose replies have keys of their own.
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

// TestKeys holds that no reply is denied: not one that was there before, nor one that
// was appended here or, a moment ago, by another process.
func TestKeys(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("old", 200))
	mustReply(t, s, "old", 200)
	mustAppend(t, s, withKeys("new", 200))
	mustReply(t, s, "new", 200)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // TestStore has it.
	mustReply(t, other, "old", 200)
	mustAppend(t, other, withKeys("other", 200))
	time.Sleep(keysAge)
	mustReply(t, s, "other", 200)
	mustAppend(t, s, withKeys("last", 50))
	mustReply(t, s, "last", 50)
	if s.replies.off || s.replies.last != 650 {
		t.Errorf("%d replies are known, the filter is off: %v, want 650", s.replies.last, s.replies.off)
	}
}

// TestAppendLooks holds that whoever appends knows what others have appended, without a
// further look: calls would wait for it.
func TestAppendLooks(t *testing.T) {
	s := openInside(t)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // TestStore has it.
	mustAppend(t, other, withKeys("other", 20))
	before := time.Now()
	mustAppend(t, s, withKeys("own", 20))
	if s.replies.at.Before(before) {
		t.Error("an append did not count as a look")
	}
	mustReply(t, s, "other", 20)
	mustReply(t, s, "own", 20)
}

// TestFilterSpares holds that a key that is not there costs no query, or the filter is
// worth nothing.
func TestFilterSpares(t *testing.T) {
	t.Parallel()
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 1000))
	mustFold(t, s)
	sent := 0
	for i := range 1000 {
		_, may, err := s.replies.fresh(t.Context(), &s.query.replyKeys, fmt.Sprint("none", i))
		if err != nil {
			t.Fatal(err)
		} else if may {
			sent++
		}
	}
	if sent > 5 {
		t.Errorf("%d of 1,000 keys that are not there were sent to the database", sent)
	}
}

// mustFold moves all keys into their tables, as an append does when there are many.
func mustFold(t *testing.T, s *Store) {
	t.Helper()
	err := s.transact(t.Context(), func(ctx context.Context, w *writer) error {
		for _, k := range []struct {
			x  *keyIndex
			st *keyStatements
		}{{&s.texts, &w.stmt.textKeys}, {&s.items, &w.stmt.itemKeys}, {&s.replies, &w.stmt.replyKeys}} {
			many := k.x.many
			k.x.many = 0
			_, err := k.x.fold(ctx, k.st, nil, k.x.last)
			if k.x.many = many; err != nil {
				return err
			}
			k.x.appended(nil, k.x.last, k.x.last)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilterTooLarge holds that a cache that is too large to be read in is asked, and
// that rows which are in no table of keys yet are found all the same.
func TestFilterTooLarge(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 10))
	mustFold(t, s)
	mustAppend(t, s, withKeys("b", 10))
	if _, err := s.write.conn.ExecContext(t.Context(), "INSERT INTO replies (n, key, body, latency, attempts, cost_micros, unpriced) VALUES (?, 'far', '{}', 0, 1, 0, 0)", filterKeys+100); err != nil {
		t.Fatal(err)
	}
	time.Sleep(keysAge)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // TestStore has it.
	for _, st := range []*Store{s, other} {
		mustReply(t, st, "a", 10)
		mustReply(t, st, "b", 10)
		if !st.replies.off {
			t.Error("a cache with high numbers was read in")
		}
	}
	mustAppend(t, other, withKeys("c", 10))
	mustReply(t, other, "c", 10)
}

// withLong gives each record a long text, every second of which it shares.
func withLong(recs []deem.Record) []deem.Record {
	for i := range recs {
		recs[i].Item.Response = storetest.Text(fmt.Sprint("response", i/2), body.LongText)
	}
	return recs
}

// openFolding opens the store at path again. Its keys are moved when there are a few.
func openFolding(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // TestStore has it.
	s.texts.many, s.items.many, s.replies.many = few, few, few
	return s
}

const few = 30

// TestFold appends enough records that their keys are moved, from two processes in
// turn, and then all of them again. No text, item or reply may be there twice, and each
// reply must be found at every moment.
func TestFold(t *testing.T) {
	const part, parts = 10, 20
	path := openInside(t).path
	s, other := openFolding(t, path), openFolding(t, path)
	for i := range parts {
		st := []*Store{s, other}[i%2]
		mustAppend(t, st, withLong(withKeys(fmt.Sprint("p", i, "-"), part)))
		mustReply(t, st, fmt.Sprint("p", i, "-"), part)
	}
	if s.replies.indexed < few || s.items.indexed < few {
		t.Errorf("keys are moved up to reply %d and item %d, want %d at least", s.replies.indexed, s.items.indexed, few)
	}
	third := openFolding(t, path)
	for i := range parts {
		st := []*Store{s, other, third}[i%3]
		mustReply(t, st, fmt.Sprint("p", i, "-"), 3)
		mustAppend(t, st, withLong(withKeys(fmt.Sprint("p", i, "-"), part)))
	}
	for table, want := range map[string]int{"items": part * parts, "replies": part * parts, "texts": part / 2} {
		if got := count(t, s, table); got != want {
			t.Errorf("there are %d %s, want %d", got, table, want)
		}
	}
	if n := len(s.replies.recent); n > few+part {
		t.Errorf("%d replies are remembered, want %d at most", n, few+part)
	}
}

// TestFoldUndone holds that an append that is undone leaves nothing behind that a
// later one could refer to.
func TestFoldUndone(t *testing.T) {
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

// TestLookKeepsNobody holds that an append goes on while somebody who only reads waits for a
// connection to look what is new.
func TestLookKeepsNobody(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 5))
	run, _, err := s.Begin(t.Context(), storetest.Spec("b"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.number(t.Context(), run.ID); err != nil { // Once it is known nobody asks again.
		t.Fatal(err)
	}
	var taken []*sql.Conn
	for range readers {
		c, err := s.read.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, c)
	}
	s.replies.mu.Lock()
	s.replies.at = time.Time{} // long ago
	s.replies.mu.Unlock()
	looked := make(chan error, 1)
	go func() {
		_, _, err := s.Reply(context.Background(), "akey1")
		looked <- err
	}()
	for s.replies.looking.TryLock() { // until it looks
		s.replies.looking.Unlock()
		time.Sleep(time.Millisecond)
	}
	appended := make(chan error, 1)
	go func() { appended <- s.Append(context.Background(), run.ID, withKeys("b", 5)) }()
	select {
	case err := <-appended:
		if err != nil {
			t.Error(err)
		}
	case err := <-looked:
		t.Errorf("it looked without a connection: %v", err)
	case <-time.After(10 * time.Second):
		t.Error("the append waits for who looks")
	}
	for _, c := range taken {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-looked; err != nil {
		t.Fatal(err)
	}
	mustReply(t, s, "a", 5)
	mustReply(t, s, "b", 5)
}
