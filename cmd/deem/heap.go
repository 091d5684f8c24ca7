package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is up to what size the heap may grow without being collected. A run has a
// few megabytes that live and makes a few kilobytes of garbage per item; with Go's own
// setting, which lets the heap double, it would be collected every few hundred items,
// and that took a sixth of all processor time. Above the floor the heap doubles as
// usual, so that large data costs no more memory than it would without this.
//
// Where there are many goroutines each of those adds to it: with many calls at once a
// collection has many stacks to go through, and so it had better be rare.
const (
	heapFloor = 12 << 20
	perTask   = 40 << 10
	manyTasks = 256
)

// keepHeap sets how far the heap may grow, now and after each collection. Whoever sets
// GOGC or GOMEMLIMIT knows better.
func keepHeap() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(growth(4<<20, 0)) // Go takes the heap for at least 4 MiB.
	watch(&sentinel{})
}

// growth returns by how many percent a heap of the given size may grow while there are
// so many goroutines.
func growth(live uint64, tasks int) int {
	const usual = 100
	floor := heapFloor + uint64(max(0, tasks-manyTasks))*perTask //nolint:gosec // none is less than none
	if live == 0 || live >= floor/2 {
		return usual
	}
	return int((floor - live) * 100 / live) //nolint:gosec // at most some gigabytes
}

// A sentinel dies in the next collection. Its finalizer is how a program learns of
// collections, and sets the next sentinel.
type sentinel struct{ _ [16]byte }

func watch(s *sentinel) {
	runtime.SetFinalizer(s, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetGCPercent(growth(live[0].Value.Uint64(), runtime.NumGoroutine()))
		watch(&sentinel{})
	})
}
