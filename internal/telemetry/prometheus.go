package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"time"
)

// promHandler serves the metrics in the Prometheus text format, version 0.0.4. The format has
// only a dozen rules; the client library would add five modules and 2.7 MB.
type promHandler struct{ t *Telemetry }

const promType = "text/plain; version=0.0.4; charset=utf-8"

// ServeHTTP answers a scrape.
func (h promHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	var p page
	p.head("deem_build_info", "gauge", "Which deem this is.")
	p.line("deem_build_info", labels{"version": h.t.redact.Replace(h.t.version)}.String(), 1)
	p.meters(&h.t.meters)
	p.process()
	w.Header().Set("Content-Type", promType)
	_, _ = w.Write(p.Bytes()) // The client may have disconnected.
}

// Serve serves [Telemetry.Handler] at an address, under /metrics, until [Telemetry.Close].
// The address is host:port or a port. Without a host it is the loopback address: name the
// host to make the metrics available to other machines. Port 0 means any free port.
//
// It returns the URL to scrape, and whether other machines may reach it.
func (t *Telemetry) Serve(ctx context.Context, address string) (url string, public bool, err error) {
	host, port := "", address
	if _, err := strconv.Atoi(address); err != nil {
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "", false, fmt.Errorf("%q is not an address as 127.0.0.1:9464", address)
		}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", false, fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return "", false, fmt.Errorf("show metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", t.Handler())
	server, done := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // It always returns an error; Close is the cause.
	}()
	t.servers = append(t.servers, func() { // Scrapes in progress are aborted.
		_ = server.Close() // The listener may be closed already.
		<-done
	})
	at := ln.Addr().(*net.TCPAddr)
	url = "http://" + at.String() + "/metrics"
	t.logEvent(ctx, slog.LevelInfo, "metrics", func() []slog.Attr { return []slog.Attr{slog.String("url", url)} })
	return url, !at.IP.IsLoopback(), nil
}

// A page is a response being written.
type page struct{ bytes.Buffer }

// meters writes all metrics that have a value.
func (p *page) meters(m *meters) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range allMetrics {
		family := m.series[of]
		if len(family) == 0 {
			continue
		}
		if of.bounds == nil {
			p.head(of.name, "counter", of.help)
		} else {
			p.head(of.name, "histogram", of.help)
		}
		for _, labels := range slices.Sorted(maps.Keys(family)) {
			if of.bounds == nil {
				p.line(of.name, labels, family[labels].sum)
			} else {
				p.histogram(of, labels, family[labels])
			}
		}
	}
	calls, allowed := map[string]int{}, map[string]int{}
	for r := range m.limits {
		labels := r.t.who(operationChat, r.info.Model).String()
		calls[labels], allowed[labels] = r.info.Limit.InFlight(), r.info.Limit.Current()
	}
	p.gauges("deem_concurrency", "Calls being made now.", calls)
	p.gauges("deem_concurrency_limit", "Calls that may be made at once now.", allowed)
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// histogram writes a histogram, whose buckets are cumulative on the page.
func (p *page) histogram(of *metric, labels string, s *series) {
	var below uint64
	for i, bound := range of.bounds {
		below += s.buckets[i]
		p.line(of.name+"_bucket", labels+`,le="`+float(bound)+`"`, float64(below))
	}
	p.line(of.name+"_bucket", labels+`,le="+Inf"`, float64(s.count))
	p.line(of.name+"_sum", labels, s.sum)
	p.line(of.name+"_count", labels, float64(s.count))
}

// gauges writes a number for each combination of labels, if there are any.
func (p *page) gauges(name, help string, values map[string]int) {
	if len(values) == 0 {
		return
	}
	p.head(name, "gauge", help)
	for _, labels := range slices.Sorted(maps.Keys(values)) {
		p.line(name, labels, float64(values[labels]))
	}
}

// line writes one value with its labels, which may be "".
func (p *page) line(name, labels string, value float64) {
	if labels != "" {
		name += "{" + labels + "}"
	}
	p.WriteString(name + " " + float(value) + "\n")
}

func float(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

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
	text, _ := os.ReadFile("/proc/self/statm") // Only Linux has it.
	if fields := bytes.Fields(text); len(fields) > 1 {
		if pages, err := strconv.ParseUint(string(fields[1]), 10, 64); err == nil {
			p.gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.", pages*uint64(os.Getpagesize()))
		}
	}
	if names, err := os.ReadDir("/proc/self/fd"); err == nil && len(names) > 0 {
		p.gauge("process_open_fds", "File descriptors that are open.", uint64(len(names)-1)) // without the one used to count them
	}
}

// gauge writes a number without labels.
func (p *page) gauge(name, help string, n uint64) {
	p.head(name, "gauge", help)
	p.line(name, "", float64(n))
}
