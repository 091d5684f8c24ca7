package faultserver

import (
	"cmp"
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// exactly waits with a timer of the system, unless the caller or the server ends. When
// idle, Go waits for its own timers in whole milliseconds, so they fire late by a quarter
// of one or more, and several at once. A call of 50 ms would take half a percent longer,
// which would distort a benchmark.
func exactly(caller, server context.Context, d time.Duration) error {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return err
	}
	timer := os.NewFile(uintptr(fd), "timer")
	defer func() { _ = timer.Close() }()
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}, nil); err != nil {
		return err
	}
	wake := func() { _ = timer.SetReadDeadline(time.Now()) }
	defer context.AfterFunc(caller, wake)()
	defer context.AfterFunc(server, wake)()
	var expired [8]byte
	_, err = timer.Read(expired[:])
	return cmp.Or(caller.Err(), server.Err(), err)
}
