package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A watched process lives through all rounds and is measured.
type watched struct {
	name string
	*process
	url string // the address of /metrics
	log string // its write-ahead log; "" for none

	mu                         sync.Mutex
	memory, wal                series // every few seconds
	goroutines, files, resting series // between rounds, when it is idle
	heap                       series // the same; it is reported and not checked
}

// pid returns the number of the process.
func (w *watched) pid() int { return w.cmd.Process.Pid }

// sample measures the memory and the log now.
func (w *watched) sample(at time.Duration) error {
	if w.gone() {
		return w.trouble(fmt.Errorf("%s has ended", w.name))
	}
	size, err := residentOf(w.pid())
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memory = append(w.memory, point{at, size})
	if w.log != "" {
		w.wal = append(w.wal, point{at, sizeOf(w.log)})
	}
	return nil
}

// idle measures what is left when there is nothing to do. What ends with a run may take a
// moment to end, so the numbers are taken when they have been stable for a second, or after
// a timeout.
func (w *watched) idle(ctx context.Context, at time.Duration) error {
	const still, patience = 5, 100
	var n float64
	for same, tries := 0, 0; same < still && tries < patience; tries++ {
		now, err := metric(ctx, w.url, "go_goroutines")
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if same++; now != n {
			n, same = now, 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	heap, err := metric(ctx, w.url, "go_memstats_heap_alloc_bytes")
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	files, err := filesOf(w.pid())
	if err != nil {
		return err
	}
	size, err := residentOf(w.pid())
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.goroutines = append(w.goroutines, point{at, n})
	w.files = append(w.files, point{at, files})
	w.resting = append(w.resting, point{at, size})
	w.heap = append(w.heap, point{at, heap})
	return nil
}

// residentOf returns the resident memory of a process in bytes, or 0 if the system does not
// report it.
func residentOf(pid int) (float64, error) {
	if !measurable() {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d is over", pid)
	}
	pages, err := strconv.Atoi(string(fields[1]))
	return float64(pages * os.Getpagesize()), err
}

// filesOf returns the number of open descriptors of a process, or 0 if the system does not
// report it.
func filesOf(pid int) (float64, error) {
	if !measurable() {
		return 0, nil
	}
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return float64(len(names)), err
}

// sizeOf returns the size of a file, or 0 if it does not exist.
func sizeOf(name string) float64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return float64(info.Size())
}

// sizeBelow returns the bytes of all files below a folder.
func sizeBelow(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // What has gone meanwhile has no size.
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// measurable reports whether the system reports the resources of processes.
func measurable() bool {
	_, err := os.Stat("/proc/self/statm")
	return err == nil
}

// verdict returns an error if a process grew while it was watched.
func (w *watched) verdict(whole time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, m := range []struct {
		what  string
		s     series
		b     bound
		scale float64
		unit  string
	}{
		{"resident memory", w.memory, memoryBound, 1 << 20, " MB"},
		{"resident memory at rest", w.resting, memoryBound, 1 << 20, " MB"},
		{"goroutines at rest", w.goroutines, countBound, 1, ""},
		{"open files at rest", w.files, countBound, 1, ""},
		{"the write-ahead log", w.wal, logBound, 1 << 20, " MB"},
	} {
		s := m.s.settled(whole)
		if grew, allowed := s.growth(), m.b.allows(s); grew > allowed {
			first, last := s.thirds()
			errs = append(errs, fmt.Errorf("%s: %s grew by %.1f%s, want at most %.1f: from %.1f in the first third to %.1f in the last",
				w.name, m.what, grew/m.scale, m.unit, allowed/m.scale, first/m.scale, last/m.scale))
		}
	}
	return errors.Join(errs...)
}

// row writes the measurements.
func (w *watched) row(b *strings.Builder, whole time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write := func(what string, s series, scale float64) {
		s = s.settled(whole)
		first, last := s.thirds()
		fmt.Fprintf(b, "%-14s %-28s %8.1f %8.1f %+8.1f %8.1f %6d\n", w.name, what, first/scale, last/scale, s.growth()/scale, s.most()/scale, len(s))
	}
	write("memory, MB", w.memory, 1<<20)
	write("memory at rest, MB", w.resting, 1<<20)
	write("heap at rest, MB", w.heap, 1<<20)
	write("goroutines at rest", w.goroutines, 1)
	write("open files at rest", w.files, 1)
	if w.log != "" {
		write("write-ahead log, MB", w.wal, 1<<20)
	}
}
