package faultserver

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// exactly waits with a timer of the system, unless one of the contexts ends. Go waits
// for its own timers in whole milliseconds once nothing else is to be done, so they fire
// late by a quarter of one and more, and several of them at once. A call that takes 50 ms
// would take half a percent longer, of which a benchmark would be blamed.
func exactly(d time.Duration, ends ...context.Context) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return err
	}
	timer := os.NewFile(uintptr(fd), "timer")
	defer func() { _ = timer.Close() }()
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}, nil); err != nil {
		return err
	}
	for _, ctx := range ends {
		defer context.AfterFunc(ctx, func() { _ = timer.SetReadDeadline(time.Now()) })()
	}
	var expired [8]byte
	_, err = timer.Read(expired[:])
	for _, ctx := range ends {
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}
