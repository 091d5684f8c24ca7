package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// promHandler serves the metrics in the Prometheus text format, version 0.0.4.
//
// The format has only a dozen rules and the numbers exist already, so it is written here:
// the Prometheus client library would count everything a second time, and add five modules
// and 2.7 MB.
type promHandler struct{ t *Telemetry }

const promType = "text/plain; version=0.0.4; charset=utf-8"

// ServeHTTP answers a scrape.
func (h promHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	var data metricdata.ResourceMetrics
	if err := h.t.prom.Collect(r.Context(), &data); err != nil {
		http.Error(w, "the run is over", http.StatusServiceUnavailable)
		return
	}
	var p page
	p.head("deem_build_info", "gauge", "Which deem this is.")
	p.line("deem_build_info", attribute.NewSet(h.t.text("version", h.t.version)), "", "", "1")
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			p.metric(m)
		}
	}
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

// metric writes one instrument. Instruments that are not in the table are not ours and are
// omitted.
func (p *page) metric(m metricdata.Metrics) {
	row, ok := instruments[m.Name]
	if !ok {
		return
	}
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		p.points(row, "counter", d.DataPoints)
	case metricdata.Gauge[int64]:
		p.points(row, "gauge", d.DataPoints)
	case metricdata.Histogram[int64]:
		histograms(p, row, d.DataPoints)
	case metricdata.Histogram[float64]:
		histograms(p, row, d.DataPoints)
	default:
		panic(fmt.Sprintf("telemetry: %s is a %T, which has no form for Prometheus", m.Name, m.Data))
	}
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) points(row instrument, kind string, points []metricdata.DataPoint[int64]) {
	p.head(row.prom, kind, row.help)
	sortBySet(points, func(d metricdata.DataPoint[int64]) attribute.Set { return d.Attributes })
	for _, d := range points {
		p.line(row.prom, d.Attributes, "", "", strconv.FormatInt(d.Value, 10))
	}
}

// histograms writes histograms. Buckets are cumulative in Prometheus, but not in
// OpenTelemetry.
func histograms[N int64 | float64](p *page, row instrument, points []metricdata.HistogramDataPoint[N]) {
	p.head(row.prom, "histogram", row.help)
	sortBySet(points, func(d metricdata.HistogramDataPoint[N]) attribute.Set { return d.Attributes })
	for _, d := range points {
		var below uint64
		for i, bound := range d.Bounds {
			below += d.BucketCounts[i]
			p.line(row.prom+"_bucket", d.Attributes, "le", float(bound), strconv.FormatUint(below, 10))
		}
		p.line(row.prom+"_bucket", d.Attributes, "le", "+Inf", strconv.FormatUint(d.Count, 10))
		p.line(row.prom+"_sum", d.Attributes, "", "", float(float64(d.Sum)))
		p.line(row.prom+"_count", d.Attributes, "", "", strconv.FormatUint(d.Count, 10))
	}
}

func float(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// sortBySet sorts series, so that two scrapes can be compared.
func sortBySet[T any](points []T, set func(T) attribute.Set) {
	encoder := attribute.DefaultEncoder()
	slices.SortFunc(points, func(a, b T) int {
		x, y := set(a), set(b)
		return strings.Compare(x.Encoded(encoder), y.Encoded(encoder))
	})
}

// line writes one value with its labels, and one additional label unless its name is "".
func (p *page) line(name string, set attribute.Set, more, value, number string) {
	var labels []string
	for _, kv := range set.ToSlice() {
		labels = append(labels, label(string(kv.Key), kv.Value.String()))
	}
	if more != "" {
		labels = append(labels, label(more, value))
	}
	p.WriteString(name)
	if len(labels) > 0 {
		p.WriteString("{" + strings.Join(labels, ",") + "}")
	}
	p.WriteString(" " + number + "\n")
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// label returns name="value". It replaces dots in the name, which Prometheus does not
// allow, and escapes the value, which is arbitrary.
func label(name, value string) string {
	return strings.ReplaceAll(name, ".", "_") + `="` + labelEscapes.Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

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
	p.line(name, attribute.Set{}, "", "", strconv.FormatUint(n, 10))
}
