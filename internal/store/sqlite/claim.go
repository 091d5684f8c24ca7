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
		if sameFile(f, path) {
			c := &claim{file: f, path: path}
			c.sign()
			return c, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

func sameFile(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(path)
	return err == nil && os.SameFile(ours, theirs)
}

// sign writes the process into the file, for the hint that others get. The lock is valid
// without it: if the disk is too full even for that, the hint says less, and the database
// itself reports that the disk is full.
func (c *claim) sign() {
	if err := c.file.Truncate(0); err != nil {
		return
	}
	_, _ = c.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
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
		return nil, deem.WithHint(store.ErrBusy,
			"%s is at it; wait for it, or stop it and run the command again to continue", holder(path))
	}
	if err != nil {
		return nil, unwritable(fmt.Errorf("claim run: %w", err))
	}
	return c, nil
}

// holder returns who signed the lock file at path.
func holder(path string) string {
	text, err := os.ReadFile(path)
	pid := strings.TrimSpace(string(text))
	switch {
	case err != nil || pid == "":
		return "another process"
	case pid == strconv.Itoa(os.Getpid()):
		return "this process"
	default:
		return "process " + pid
	}
}
