package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/flock"
	"deem/internal/store"
)

// A claim is a locked file. The operating system unlocks it when the process ends, in
// whatever way; a leftover file has no meaning.
type claim struct {
	file *os.File
	path string
}

// tryLock creates and locks the file at path, or returns [flock.ErrLocked].
func tryLock(path string) (*claim, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock.Try(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// Subtle: the previous holder may have removed the file between our opening and our
		// locking it. Then a third process can create and lock a new file, so our lock is
		// worthless.
		ours, err := f.Stat()
		theirs, statErr := os.Stat(path)
		if err == nil && statErr == nil && os.SameFile(ours, theirs) {
			// The process is for the hint that others get. The lock is valid without it: if
			// the disk is too full even for that, the hint says less, and the database itself
			// reports that the disk is full.
			if err := f.Truncate(0); err == nil {
				_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
			}
			return &claim{file: f, path: path}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// release removes the file while it is still locked, so that no process finds it unlocked,
// and closes it, which unlocks it. Windows cannot remove an open file, so there it is
// closed first; if another process opens it in between, it is not removed.
func (c *claim) release() error {
	if runtime.GOOS == "windows" {
		err := c.file.Close()
		_ = os.Remove(c.path)
		return err
	}
	err := os.Remove(c.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil // It was already removed, which does no harm.
	}
	return errors.Join(err, c.file.Close())
}

// waitLock locks the file at path, and waits while another process has it.
func waitLock(ctx context.Context, path string, wait time.Duration) (*claim, error) {
	deadline := time.Now().Add(wait)
	for {
		c, err := tryLock(path)
		if !errors.Is(err, flock.ErrLocked) || time.Now().After(deadline) {
			return c, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// claimKey claims the runs with the given key for this store.
func (s *Store) claimKey(key string) (*claim, error) {
	path := s.real + "-" + deem.ShortHash(key) + ".lock"
	c, err := tryLock(path)
	if errors.Is(err, flock.ErrLocked) {
		text, _ := os.ReadFile(path) //nolint:errcheck // "" if it cannot be read.
		who := "process " + strings.TrimSpace(string(text))
		switch who {
		case "process ":
			who = "another process"
		case "process " + strconv.Itoa(os.Getpid()):
			who = "this process"
		}
		return nil, deem.WithHint(store.ErrBusy, "%s is at it; wait for it, or stop it and run the command again to continue", who)
	}
	if err != nil {
		return nil, unwritable(fmt.Errorf("claim run: %w", err))
	}
	return c, nil
}
