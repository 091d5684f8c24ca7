package queue

import (
	"fmt"
	"io"
	"strings"
)

// WriteMetrics writes the metrics of the worker in the Prometheus text format.
func (w *Worker) WriteMetrics(to io.Writer) {
	w.mu.Lock()
	refused, runs := len(w.refused), len(w.engaged)
	w.mu.Unlock()
	ready := 0
	if w.Ready() {
		ready = 1
	}
	var b strings.Builder
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"deem_worker_ready", "gauge", "Whether the worker takes work.", int64(ready)},
		{"deem_worker_slots", "gauge", "Items that the worker judges at once at most.", int64(w.o.Slots)},
		{"deem_worker_in_flight", "gauge", "Items that the worker judges now.", w.inFlight.Load()},
		{"deem_worker_records_total", "counter", "Records that the worker committed.", w.records.Load()},
		{"deem_worker_runs", "gauge", "Runs whose chunks the worker takes.", int64(runs)},
		{"deem_worker_refused_runs", "gauge", "Runs that the worker cannot judge.", int64(refused)},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	_, _ = io.WriteString(to, b.String()) // The client may have disconnected.
}
