package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// export starts the exporters that the settings ask for.
func (t *Telemetry) export(ctx context.Context, s settings, prometheus bool) {
	t.meters = noMeters()
	if !s.any() && !prometheus {
		return
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.sender.failed))
	otel.SetLogger(zero(otel.SetLogger))
	res := t.resource(ctx, s.service)
	if s.traces != nil {
		t.exportTraces(*s.traces, res)
	}
	t.exportMetrics(s.metrics, res, prometheus)
}

// zero returns the zero value of a function's parameter: here a logger that discards
// everything. OpenTelemetry's logger would print variables that it cannot parse, with their
// values. Its type belongs to a library that we do not use otherwise.
func zero[T any](func(T)) (none T) { return none }

// resource describes this process. It omits the command-line arguments, which may contain
// anything.
func (t *Telemetry) resource(ctx context.Context, service string) *resource.Resource {
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(t.text("service.version", t.version)),
		resource.WithFromEnv(),
		resource.WithAttributes(t.text("service.name", service)),
	)
	if err != nil {
		t.sender.warn("OTEL_RESOURCE_ATTRIBUTES is not of the form name=value,name=value")
	}
	return res
}

// exporter returns an exporter to a target. Each has its own transport, so that its
// connections can be closed at the end.
func (s *sender) exporter(to target) *exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = to.tls
	s.transports = append(s.transports, transport)
	return &exporter{s, to, &http.Client{Transport: transport, Timeout: to.timeout}}
}

func (t *Telemetry) exportTraces(to target, res *resource.Resource) {
	// The SDK reads the sampler and the sizes of the queue and of batches from its own
	// variables: OTEL_TRACES_SAMPLER, OTEL_BSP_*.
	p := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(t.sender),
		sdktrace.WithBatcher(t.sender.exporter(to)))
	t.tracer = p.Tracer(scope)
	t.closers = append(t.closers, p.Shutdown)
}

func (t *Telemetry) exportMetrics(to *target, res *resource.Resource, prometheus bool) {
	opts := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if prometheus {
		t.prom = sdkmetric.NewManualReader()
		opts = append(opts, sdkmetric.WithReader(t.prom))
	}
	if to != nil {
		opts = append(opts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter{t.sender.exporter(*to)})))
	}
	if len(opts) == 1 {
		return // Metrics have no reader.
	}
	p := sdkmetric.NewMeterProvider(opts...)
	t.meters = newMeters(p)
	t.closers = append(t.closers, p.Shutdown)
}
