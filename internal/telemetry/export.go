package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// export starts the exporters that the settings ask for.
func (t *Telemetry) export(ctx context.Context, s settings, prometheus bool) {
	t.meters = newMeters(noop.NewMeterProvider())
	if !s.any() && !prometheus {
		return
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.sender.failed))
	otel.SetLogger(zero(otel.SetLogger))
	// The resource omits the command-line arguments, which may contain anything.
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(t.text("service.version", t.version)),
		resource.WithFromEnv(),
		resource.WithAttributes(t.text("service.name", s.service)),
	)
	if err != nil {
		t.sender.warn("OTEL_RESOURCE_ATTRIBUTES is not of the form name=value,name=value")
	}
	if s.traces != nil {
		// The SDK reads the sampler and the sizes of the queue and of batches from its own
		// variables: OTEL_TRACES_SAMPLER, OTEL_BSP_*.
		p := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(t.sender),
			sdktrace.WithBatcher(t.sender.exporter(*s.traces)))
		t.tracer = p.Tracer(scope)
		t.closers = append(t.closers, p.Shutdown)
	}
	opts := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if prometheus {
		t.prom = sdkmetric.NewManualReader()
		opts = append(opts, sdkmetric.WithReader(t.prom))
	}
	if s.metrics != nil {
		opts = append(opts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter{t.sender.exporter(*s.metrics)})))
	}
	if prometheus || s.metrics != nil {
		p := sdkmetric.NewMeterProvider(opts...)
		t.meters = newMeters(p)
		t.closers = append(t.closers, p.Shutdown)
	}
}

// zero returns the zero value of a function's parameter: here a logger that discards
// everything. OpenTelemetry's logger would print variables that it cannot parse, with their
// values. Its type belongs to a library that we do not use otherwise.
func zero[T any](func(T)) (none T) { return none }

// exporter returns an exporter to a target. Each has its own transport, so that its
// connections can be closed at the end.
func (s *sender) exporter(to target) *exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = to.tls
	s.transports = append(s.transports, transport)
	return &exporter{s, to, &http.Client{Transport: transport, Timeout: to.timeout}}
}

// meters are the instruments of a run.
type meters struct {
	meter metric.Meter

	duration metric.Float64Histogram
	tokens   metric.Int64Histogram

	calls, unpriced, retries, cost, records, failures metric.Int64Counter

	inFlight, allowed metric.Int64ObservableGauge
}

// newMeters creates the instruments. It panics on errors: names and units are constants.
func newMeters(p metric.MeterProvider) meters {
	m := meters{meter: p.Meter(scope)}
	counter := func(name string) metric.Int64Counter {
		row := instruments[name]
		return must(m.meter.Int64Counter(name, metric.WithUnit(row.unit), metric.WithDescription(row.help)))
	}
	gauge := func(name string) metric.Int64ObservableGauge {
		row := instruments[name]
		return must(m.meter.Int64ObservableGauge(name, metric.WithUnit(row.unit), metric.WithDescription(row.help)))
	}
	row := instruments[metricDuration]
	m.duration = must(m.meter.Float64Histogram(metricDuration, metric.WithUnit(row.unit),
		metric.WithDescription(row.help), metric.WithExplicitBucketBoundaries(durationBounds...)))
	row = instruments[metricTokens]
	m.tokens = must(m.meter.Int64Histogram(metricTokens, metric.WithUnit(row.unit),
		metric.WithDescription(row.help), metric.WithExplicitBucketBoundaries(tokenBounds...)))
	m.calls, m.unpriced, m.retries = counter(metricCalls), counter(metricUnpriced), counter(metricRetries)
	m.cost, m.records, m.failures = counter(metricCost), counter(metricRecords), counter(metricFailures)
	m.inFlight, m.allowed = gauge(metricInFlight), gauge(metricAllowed)
	return m
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
