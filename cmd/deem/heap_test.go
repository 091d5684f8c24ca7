package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestGrowth(t *testing.T) {
	for _, tt := range []struct {
		live  uint64
		tasks int
		want  int
	}{
		{0, 0, 100},
		{1 << 20, 0, 1100},
		{4 << 20, 0, 200},
		{5 << 20, 0, 140},
		{6 << 20, 0, 100},
		{8 << 20, 0, 100},
		{10 << 20, 0, 100},
		{heapFloor, 0, 100},
		{1 << 30, 0, 100},
		{4 << 20, 256, 200},
		{4 << 20, 256 + 512, 700},
		{16 << 20, 256 + 1024, 225},
		{1 << 30, 256 + 1024, 100},
	} {
		if got := growth(tt.live, tt.tasks); got != tt.want {
			t.Errorf("growth(%d MiB, %d) = %d, want %d", tt.live>>20, tt.tasks, got, tt.want)
		}
	}
}

// TestKeepHeap holds that a small heap may grow to the floor, and that a large one may
// only double, though it was small before.
func TestKeepHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	keepHeap()
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	if got := percent(); got != 200 {
		t.Errorf("at first the heap may grow by %d%%, want 200", got)
	}
	large := make([]byte, 4*heapFloor)
	// The finalizer has a goroutine of its own, which a busy machine may not run at once.
	for deadline := time.Now().Add(time.Minute); percent() != 100 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if got := percent(); got != 100 {
		t.Errorf("with %d MiB that live the heap may grow by %d%%, want 100", len(large)>>20, got)
	}
	runtime.KeepAlive(large)
}
