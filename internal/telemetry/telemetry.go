// Package telemetry reports what a run does: in a log, as spans and metrics to an
// OpenTelemetry collector, and as metrics for Prometheus.
//
// [Start] returns nil if none of these is configured. A nil [*Telemetry] returns the models
// and judges that it is given unchanged, so that an unobserved run has no overhead.
//
// Otherwise a model gets two decorators. [Telemetry.Wire] is the innermost and sees every
// attempt, as the vendor bills it; [Telemetry.Model] is the outermost and sees calls,
// including retries, waiting and cached replies. [Run.Judge] wraps the judge and sees
// items, and [Run.Add] receives each record. The spans of a run are nested accordingly:
// run, item, call, attempt.
//
// There is one set of instruments. A collector receives them by OTLP over HTTP, and
// [Telemetry.Handler] serves the same numbers in the Prometheus format.
//
// Telemetry never affects a run: if a collector is down, slow or returns errors, the result
// is one warning and never a lost item. Reports contain prompts and replies only on
// request, and never keys.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Options configure telemetry. The zero value means none.
type Options struct {
	// Version is the version of deem.
	Version string

	// Log receives events at or above Level as JSON lines; nil means no log.
	Log   io.Writer
	Level slog.Level

	// Prometheus enables [Telemetry.Handler].
	Prometheus bool

	// Getenv reads OpenTelemetry's variables, such as OTEL_EXPORTER_OTLP_ENDPOINT; nil
	// means that none are set.
	Getenv func(string) string

	// Secrets are redacted from all output.
	Secrets []string

	// Warn is called once if something cannot be delivered; it may be nil. It may be called
	// from any goroutine.
	Warn func(message string)
}

// captureVariable enables the texts of prompts and replies. Other instrumentations of
// models use the same name.
const captureVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// flushWait is how long [Telemetry.Close] waits for the last spans and metrics to be
// delivered; givenUpWait applies if deliveries failed before.
const (
	flushWait   = 3 * time.Second
	givenUpWait = 300 * time.Millisecond
)

// A Telemetry reports runs. All methods of a nil *Telemetry do nothing. It is safe for
// concurrent use.
type Telemetry struct {
	log     *slog.Logger
	tracer  trace.Tracer
	meters  meters
	redact  *strings.Replacer // removes secrets
	content bool              // report prompts and replies

	version string
	prom    *sdkmetric.ManualReader // nil without Prometheus
	sender  *sender
	closers []func(context.Context) error
	servers []func() // stop them
	once    sync.Once
}

// Start returns a Telemetry, or nil if nothing is configured. It starts the exporters,
// which have goroutines until [Telemetry.Close].
//
// Invalid OpenTelemetry settings cause a warning and do not stop the run: they are often
// made for a whole machine by someone else.
func Start(ctx context.Context, o Options) *Telemetry {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	settings, err := readSettings(o.Getenv)
	secrets := slices.Clone(o.Secrets)
	for _, to := range []*target{settings.traces, settings.metrics} {
		if to == nil {
			continue
		}
		for _, v := range to.headers {
			_, credentials, _ := strings.Cut(v, " ") // for example "Bearer key"
			secrets = append(secrets, v, credentials)
		}
	}
	t := &Telemetry{
		log:     slog.New(slog.DiscardHandler),
		version: o.Version,
		tracer:  tracenoop.NewTracerProvider().Tracer(scope),
		redact:  newRedactor(secrets),
		content: strings.EqualFold(o.Getenv(captureVariable), "true"),
	}
	if o.Log != nil {
		t.log = slog.New(slog.NewJSONHandler(o.Log, &slog.HandlerOptions{
			Level: o.Level,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Value.Kind() == slog.KindString {
					a.Value = slog.StringValue(t.redact.Replace(a.Value.String()))
				}
				return a
			},
		}))
	}
	t.sender = &sender{t: t, tellUser: o.Warn}
	t.sender.life, t.sender.kill = context.WithCancel(context.Background())
	if err != nil {
		t.sender.warn(fmt.Sprintf("what OpenTelemetry's variables ask for is not sent: %v", err))
	}
	if o.Log == nil && !o.Prometheus && !settings.any() {
		return nil
	}
	t.export(ctx, settings, o.Prometheus)
	return t
}

// Close delivers pending data, for at most a few seconds. Afterwards nothing is reported,
// and all goroutines have ended.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		for _, stop := range t.servers {
			stop()
		}
		wait := flushWait
		if t.sender.bad.Load() {
			wait = givenUpWait
		}
		giveUp := time.AfterFunc(wait, t.sender.kill)
		defer giveUp.Stop()
		var wg sync.WaitGroup
		for _, c := range t.closers {
			wg.Go(func() {
				// The context has no timeout: when the time is over the sender fails at
				// once, and exporters with pending data end then.
				if err := c(context.WithoutCancel(t.sender.life)); err != nil {
					t.sender.failed(err)
				}
			})
		}
		wg.Wait()
		s := t.sender
		s.kill()
		if lost := s.ended.Load() - s.sent.Load(); lost > 0 && !s.bad.Load() {
			s.warn(fmt.Sprintf("%d of %d spans were dropped, as they came faster than the collector took them (OTEL_BSP_MAX_QUEUE_SIZE is how many may wait)", lost, s.ended.Load()))
		}
		for _, transport := range s.transports {
			transport.CloseIdleConnections()
		}
	})
}

// Handler returns the handler for Prometheus. It responds with 404 unless
// [Options.Prometheus] was set.
func (t *Telemetry) Handler() http.Handler {
	if t == nil || t.prom == nil {
		return http.NotFoundHandler()
	}
	return promHandler{t}
}

// text returns an attribute without secrets. Every text attribute with foreign content is
// made here.
func (t *Telemetry) text(key, value string) attribute.KeyValue {
	return attribute.String(key, t.redact.Replace(value))
}
