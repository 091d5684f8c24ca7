//go:build unix

package sqlite_test

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used. Unlike the time
// on the clock it does not depend on what else the machine does.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
