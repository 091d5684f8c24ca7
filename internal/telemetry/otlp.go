package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// An exporter sends spans or metrics to a collector as OTLP: protocol buffers over HTTP.
// OpenTelemetry's own exporters do the same, but depend on gRPC and all of protobuf, which
// would take a tenth of deem's compile time.
type exporter struct {
	s      *sender
	to     target
	client *http.Client
}

// How long a delivery is retried, and the backoff in between; the values are
// OpenTelemetry's.
const (
	retryFor   = time.Minute
	retryFirst = 5 * time.Second
	retryMost  = 30 * time.Second
	maxAnswer  = 64 << 10 // bytes read of a collector's response
)

// Shutdown does nothing: the sender closes the connections.
func (e *exporter) Shutdown(context.Context) error { return nil }

// post delivers a message, with retries if the collector asks for them.
func (e *exporter) post(ctx context.Context, body message) error {
	ctx, cancel := context.WithTimeout(ctx, retryFor)
	defer cancel()
	stop := context.AfterFunc(e.s.life, cancel) // when deliveries must be aborted
	defer stop()
	if e.to.gzip {
		var packed bytes.Buffer
		zw := gzip.NewWriter(&packed)
		_, err := zw.Write(body)
		if err := errors.Join(err, zw.Close()); err != nil {
			return err
		}
		body = packed.Bytes()
	}
	deadline, _ := ctx.Deadline()
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		after, err := e.try(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		after = cmp.Or(after, pause)
		if time.Now().Add(after).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(after):
		}
	}
}

// try makes one request. With an error it returns how long to wait before a retry: 0 if the
// collector does not say, negative if a retry is useless.
func (e *exporter) try(ctx context.Context, body []byte) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.to.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header.Set("User-Agent", "deem/"+e.s.t.version)
	for name, value := range e.to.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	if e.to.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return -1, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return -1, err
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // A date is ignored.
		return time.Duration(max(0, min(seconds, 3600))) * time.Second, fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	if resp.StatusCode/100 != 2 {
		return -1, fmt.Errorf("%s answers %s: %s", e.to.url, resp.Status, strings.TrimSpace(string(text)))
	}
	if resp.Header.Get("Content-Type") == "application/x-protobuf" {
		return -1, refused(text)
	}
	return -1, nil
}

// refused returns an error if a collector's response says that it rejected part of the
// data.
func refused(answer []byte) error {
	num, kind, n := protowire.ConsumeTag(answer)
	if n < 0 || num != 1 || kind != protowire.BytesType {
		return nil
	}
	b, n := protowire.ConsumeBytes(answer[n:])
	if n < 0 {
		return nil
	}
	var count uint64
	var why string
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		switch b = b[n:]; {
		case num == 1 && kind == protowire.VarintType:
			count, n = protowire.ConsumeVarint(b)
		case num == 2 && kind == protowire.BytesType:
			why, n = protowire.ConsumeString(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return nil
		}
		b = b[n:]
	}
	if count == 0 && why == "" {
		return nil
	}
	return fmt.Errorf("the collector refused %d of them: %s", count, why)
}

// A message is a protocol buffer being written. Its field numbers are those of
// opentelemetry-proto 1.x; the tests decode it with the generated types.
type message []byte

func (m message) bytes(n protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, n, protowire.BytesType), b)
}

func (m message) text(n protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m message) varint(n protowire.Number, v int) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), uint64(v)) //nolint:gosec // Negative numbers are written like this.
}

func (m message) fixed(n protowire.Number, v uint64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, n, protowire.Fixed64Type), v)
}

func (m message) double(n protowire.Number, f float64) message {
	return m.fixed(n, math.Float64bits(f))
}

func (m message) time(n protowire.Number, t time.Time) message {
	return m.fixed(n, uint64(max(0, t.UnixNano()))) //nolint:gosec // It is not negative.
}

func (m message) attributes(n protowire.Number, list []attribute.KeyValue) message {
	for _, kv := range list {
		m = m.bytes(n, message(nil).text(1, string(kv.Key)).bytes(2, anyValue(kv.Value)))
	}
	return m
}

func anyValue(v attribute.Value) message {
	var m message
	switch v.Type() {
	case attribute.BOOL:
		if v.AsBool() {
			return m.varint(2, 1)
		}
		return m.varint(2, 0)
	case attribute.INT64:
		return m.varint(3, int(v.AsInt64()))
	case attribute.FLOAT64:
		return m.double(4, v.AsFloat64())
	case attribute.STRINGSLICE:
		var list message
		for _, s := range v.AsStringSlice() {
			list = list.bytes(1, message(nil).text(1, s))
		}
		return m.bytes(5, list)
	}
	return m.text(1, v.String())
}

// envelope wraps spans or metrics with their resource and scope.
func envelope(res *resource.Resource, scope instrumentation.Scope, inside message) message {
	scoped := append(message(nil).bytes(1, message(nil).text(1, scope.Name).text(2, scope.Version)), inside...)
	return message(nil).bytes(1, message(nil).bytes(1, message(nil).attributes(1, res.Attributes())).bytes(2, scoped).text(3, res.SchemaURL()))
}

// ExportSpans delivers spans, which must have the same provider and scope. It reports
// errors itself and returns nil, because the SDK would print each error.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	var list message
	for _, s := range spans {
		list = list.bytes(2, spanMessage(s))
	}
	if err := e.post(ctx, envelope(spans[0].Resource(), spans[0].InstrumentationScope(), list)); err != nil {
		e.s.failed(err)
		return nil
	}
	e.s.sent.Add(int64(len(spans)))
	return nil
}

// spanMessage encodes a span. Our spans have no events and no links.
func spanMessage(s sdktrace.ReadOnlySpan) message {
	sc, parent := s.SpanContext(), s.Parent()
	trace, span := sc.TraceID(), sc.SpanID()
	m := message(nil).bytes(1, trace[:]).bytes(2, span[:]).text(3, sc.TraceState().String())
	if id := parent.SpanID(); id.IsValid() {
		m = m.bytes(4, id[:])
	}
	m = m.text(5, s.Name()).varint(6, int(s.SpanKind())).time(7, s.StartTime()).time(8, s.EndTime())
	m = m.attributes(9, s.Attributes()).varint(10, s.DroppedAttributes())
	status := map[codes.Code]int{codes.Ok: 1, codes.Error: 2}[s.Status().Code]
	m = m.bytes(15, message(nil).text(2, s.Status().Description).varint(3, status))
	flags := uint32(sc.TraceFlags()) | 0x100 // The flag says whether IsRemote is known.
	if parent.IsRemote() {
		flags |= 0x200
	}
	return protowire.AppendFixed32(protowire.AppendTag(m, 16, protowire.Fixed32Type), flags)
}

// A metricExporter is an exporter of metrics. It implements [sdkmetric.Exporter].
type metricExporter struct{ *exporter }

// Temporality returns the SDK's default: counts are cumulative.
func (metricExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

// Aggregation returns the SDK's default.
func (metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// ForceFlush does nothing: there is no buffer.
func (metricExporter) ForceFlush(context.Context) error { return nil }

// Export delivers metrics. Like ExportSpans, it reports errors itself and returns nil.
func (e metricExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	for _, scope := range data.ScopeMetrics {
		var list message
		for _, m := range scope.Metrics {
			list = list.bytes(2, metricMessage(m))
		}
		if err := e.post(ctx, envelope(data.Resource, scope.Scope, list)); err != nil {
			e.s.failed(err)
		}
	}
	return nil
}

// metricMessage encodes the kinds of metrics that we use (export.go).
func metricMessage(m metricdata.Metrics) message {
	to := message(nil).text(1, m.Name).text(2, m.Description).text(3, m.Unit)
	switch data := m.Data.(type) {
	case metricdata.Gauge[int64]:
		return to.bytes(5, numbers(data.DataPoints))
	case metricdata.Sum[int64]:
		return to.bytes(7, numbers(data.DataPoints).varint(2, cumulative).varint(3, 1)) // a counter never falls
	case metricdata.Histogram[int64]:
		return to.bytes(9, histogram(data.DataPoints))
	case metricdata.Histogram[float64]:
		return to.bytes(9, histogram(data.DataPoints))
	}
	return to
}

// cumulative is the number of the temporality in OTLP, see [metricExporter.Temporality].
const cumulative = 2

func numbers(points []metricdata.DataPoint[int64]) message {
	var list message
	for _, p := range points {
		point := message(nil).attributes(7, p.Attributes.ToSlice()).time(2, p.StartTime).time(3, p.Time).fixed(6, uint64(p.Value)) //nolint:gosec // Only the bits are written.
		list = list.bytes(1, exemplars(point, 5, p.Exemplars))
	}
	return list
}

func histogram[N int64 | float64](points []metricdata.HistogramDataPoint[N]) message {
	var list message
	for _, p := range points {
		point := message(nil).attributes(9, p.Attributes.ToSlice()).time(2, p.StartTime).time(3, p.Time).fixed(4, p.Count).double(5, float64(p.Sum))
		var counts, bounds []byte
		for _, n := range p.BucketCounts {
			counts = protowire.AppendFixed64(counts, n)
		}
		for _, b := range p.Bounds {
			bounds = protowire.AppendFixed64(bounds, math.Float64bits(b))
		}
		point = exemplars(point.bytes(6, counts).bytes(7, bounds), 8, p.Exemplars)
		if v, ok := p.Min.Value(); ok {
			point = point.double(11, float64(v))
		}
		if v, ok := p.Max.Value(); ok {
			point = point.double(12, float64(v))
		}
		list = list.bytes(1, point)
	}
	return list.varint(2, cumulative)
}

// exemplars appends single measurements with the spans in which they were made.
func exemplars[N int64 | float64](m message, n protowire.Number, list []metricdata.Exemplar[N]) message {
	for _, x := range list {
		one := message(nil).time(2, x.Time).double(3, float64(x.Value)).bytes(4, x.SpanID).bytes(5, x.TraceID)
		m = m.bytes(n, one.attributes(7, x.FilteredAttributes))
	}
	return m
}
