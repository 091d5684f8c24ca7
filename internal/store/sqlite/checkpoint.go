package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// checkpointEvery is how often the log is moved into the database while records are
// kept.
const checkpointEvery = time.Second

// A checkpointer moves the log into the database beside the commits. Neither waits for
// the other, and so the disk, which has to be waited for, keeps nobody waiting. A log
// that nobody moved would have to be moved by a commit once it is large, or in the end,
// when somebody waits for the command to be over.
type checkpointer struct {
	every time.Duration
	last  time.Time  // of beginning that, at first of the first commit; for whoever holds the writer
	busy  sync.Mutex // held while the log is moved
	db    *sql.DB    // of a connection of its own; nil before the first time
}

// checkpoint begins to move the log, unless that was done lately or is still being done.
// It does not wait until it is moved. The caller holds the writer.
func (s *Store) checkpoint() {
	c := &s.write.checkpointer
	now := time.Now()
	if c.last.IsZero() {
		c.last = now
	}
	if now.Sub(c.last) < c.every || !c.busy.TryLock() {
		return
	}
	c.last = now
	go func() {
		defer c.busy.Unlock()
		// What is not moved now is moved later. If that can never be, as on a full
		// disk, the log stays beside the database, and nothing in it is lost.
		_ = s.moveLog(c)
	}()
}

// moveLog moves what it can of the log into the database.
func (s *Store) moveLog(c *checkpointer) (err error) {
	if c.db == nil {
		if c.db, err = sql.Open("sqlite", s.dsn(cacheReader)); err != nil {
			return err
		}
		c.db.SetMaxOpenConns(1)
	}
	_, err = c.db.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// close waits until nothing is being moved. It keeps the lock, so that nothing ever is
// again: an append may still be on its way.
func (c *checkpointer) close() error {
	c.busy.Lock()
	if c.db == nil {
		return nil
	}
	return c.db.Close()
}
