package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the place of the byte that is locked. Windows lets nobody else read
// what is locked, so it is far behind the number of the process, which others read.
const lockedByte = 1 << 30

// Try locks f for this open file alone, so that two users in one process keep each other
// out as two processes do.
func Try(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
