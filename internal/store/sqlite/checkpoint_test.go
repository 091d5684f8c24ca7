package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCheckpointBeside holds that what was appended comes into the database while the
// store is open.
func TestCheckpointBeside(t *testing.T) {
	s := openInside(t)
	s.write.checkpointer.every = time.Millisecond
	before := sizeOf(t, s.path)
	for i := range 40 {
		mustAppend(t, s, withKeys(string(rune('a'+i)), 20))
		time.Sleep(time.Millisecond)
		if i%2 == 1 {
			waitMoved(s)
		}
	}
	waitMoved(s)
	after, log := sizeOf(t, s.path), sizeOf(t, s.path+"-wal")
	if after < before+100<<10 {
		t.Errorf("the database grew from %d to %d bytes, want 100 KiB more", before, after)
	}
	if log > after {
		t.Errorf("the log has %d bytes beside a database of %d: it was never begun anew", log, after)
	}
	for i := range 40 {
		mustReply(t, s, string(rune('a'+i)), 20)
	}
}

// TestCheckpointKeepsNobody holds that an append does not wait until the log is moved.
func TestCheckpointKeepsNobody(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 5)) // From now on it is time.
	c := &s.write.checkpointer
	c.every = time.Nanosecond
	// Whoever moves the log asks for its connection first, and there is none.
	db, err := sql.Open("sqlite", s.dsn(cacheReader))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	taken, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.db = db
	for i := range 3 {
		mustAppend(t, s, withKeys(string(rune('b'+i)), 5))
	}
	if c.busy.TryLock() {
		t.Error("nobody moves the log")
		c.busy.Unlock()
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	waitMoved(s)
}

// TestCheckpointAfterClose holds that an append which commits while the store is being
// closed opens nothing that stays open.
func TestCheckpointAfterClose(t *testing.T) {
	s := openInside(t)
	mustAppend(t, s, withKeys("a", 5))
	c := &s.write.checkpointer
	c.every = time.Nanosecond
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, withKeys("b", 5))
	if c.db != nil {
		t.Error("the log is moved by a connection that nobody will close")
	}
	c.busy.Unlock() // Closing the store takes it again.
}

// TestCheckpointSeldom holds that a short run does not wait for the disk before its end.
func TestCheckpointSeldom(t *testing.T) {
	s := openInside(t)
	s.write.checkpointer.every = time.Hour
	before := sizeOf(t, s.path)
	mustAppend(t, s, withKeys("a", 200))
	mustAppend(t, s, withKeys("b", 200))
	if s.write.checkpointer.db != nil || sizeOf(t, s.path) != before {
		t.Error("the log was moved at once")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if sizeOf(t, s.path) < before+100<<10 {
		t.Error("closing did not move the log")
	}
	left, err := filepath.Glob(s.path + "-[ws]*")
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left, error %v", left, err)
	}
}

// waitMoved waits until nothing is being moved.
func waitMoved(s *Store) {
	s.write.checkpointer.busy.Lock()
	s.write.checkpointer.busy.Unlock() //nolint:staticcheck,gocritic // To have had it is enough.
}

// sizeOf returns how many bytes a file has, 0 if it is not there.
func sizeOf(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
