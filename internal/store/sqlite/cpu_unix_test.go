//go:build unix

package sqlite_test

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has used. Unlike wall time it does not
// depend on other load on the machine.
func cpuTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
