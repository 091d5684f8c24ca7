package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// pin puts this program and whatever it starts onto one processor, the last one, by
// starting it anew. There, what runs beside each other takes turns, and so whatever
// disturbs one of them disturbs the other as much. It returns at once where that was
// done, or cannot be.
func pin() {
	if os.Getenv(pinned) != "" {
		return
	}
	var mask [128]uint64
	last := runtime.NumCPU() - 1
	mask[last/64] = 1 << (last % 64)
	runtime.LockOSThread() // What is started anew has the processors of this thread.
	defer runtime.UnlockOSThread()
	if _, _, no := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); no != 0 { //nolint:gosec // the call wants an address
		return
	}
	_ = syscall.Exec(self(), os.Args, append(os.Environ(), fmt.Sprintf("%s=%d", pinned, processors()))) //nolint:gosec // it is this program
}
