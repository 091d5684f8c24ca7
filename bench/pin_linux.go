package main

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// pin puts this program and whatever it starts onto one processor, the last that it may
// use, by starting it anew. There, what runs beside each other takes turns, and so
// whatever disturbs one of them disturbs the other as much. It returns where that was
// done, and says so where it cannot be.
func pin() {
	if os.Getenv(pinned) != "" {
		return
	}
	runtime.LockOSThread() // What is started anew has the processors of this thread.
	defer runtime.UnlockOSThread()
	count := processors()
	var may processorSet
	err := may.call(syscall.SYS_SCHED_GETAFFINITY)
	if err == nil {
		only := may.last()
		err = only.call(syscall.SYS_SCHED_SETAFFINITY)
	}
	if err == nil {
		err = syscall.Exec(self(), os.Args, append(os.Environ(), fmt.Sprintf("%s=%d", pinned, count))) //nolint:gosec // it is this program
	}
	fmt.Fprintf(os.Stderr, "bench: cannot keep to one processor, so ratios may be off: %v\n", err)
}

// A processorSet has a bit for each processor.
type processorSet [16]uint64

// call reads or sets the processors of this thread.
func (s *processorSet) call(number uintptr) error {
	_, _, no := syscall.RawSyscall(number, 0, unsafe.Sizeof(*s), uintptr(unsafe.Pointer(s))) //nolint:gosec // the call wants an address
	if no != 0 {
		return no
	}
	return nil
}

// last returns the set of the last processor in s.
func (s *processorSet) last() processorSet {
	var only processorSet
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 0 {
			only[i] = 1 << (bits.Len64(s[i]) - 1)
			break
		}
	}
	return only
}
