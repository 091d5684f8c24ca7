package telemetry

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// heapObjects is the runtime metric for the bytes of live and not yet swept objects.
const heapObjects = "/memory/classes/heap/objects:bytes"

// process writes the resource usage of this process. The names are those of other Go
// programs' exporters, so that existing alerts work for deem too: servers and workers run
// for months, and a leak should be visible. Values that the system does not provide are
// omitted.
func (p *page) process() {
	p.gauge("go_goroutines", "Goroutines that there are now.", uint64(runtime.NumGoroutine()))
	heap := []metrics.Sample{{Name: heapObjects}}
	metrics.Read(heap)
	p.gauge("go_memstats_heap_alloc_bytes", "Bytes of objects in the heap.", heap[0].Value.Uint64())
	if n, ok := resident(); ok {
		p.gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.", n)
	}
	if n, ok := openFiles(); ok {
		p.gauge("process_open_fds", "File descriptors that are open.", n)
	}
}

// gauge writes a number without labels.
func (p *page) gauge(name, help string, n uint64) {
	p.head(name, "gauge", help)
	p.line(name, attribute.Set{}, "", "", strconv.FormatUint(n, 10))
}

// resident returns the resident memory in bytes, if the system is Linux.
func resident() (uint64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

// openFiles returns the number of open file descriptors, without the one used to count
// them.
func openFiles() (uint64, bool) {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil || len(names) == 0 {
		return 0, false
	}
	return uint64(len(names) - 1), true
}
