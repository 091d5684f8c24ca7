// Package telemetry tells those who watch a run what it does: people by a log, a
// collector of OpenTelemetry by spans and metrics, and Prometheus by counters.
//
// [Start] looks who watches. When nobody does it returns nil, and a nil [*Telemetry]
// hands back the models and judges that it is given, so that a run which nobody
// watches carries nothing with it.
//
// Otherwise two decorators go around a model. [Telemetry.Wire] is next to the wire and
// sees every attempt, as the vendor bills it; [Telemetry.Model] is outermost and sees
// calls, whose retries, waiting and cached replies are inside. [Run.Judge] goes around
// the judge and sees items, and [Run.Add] is told of each record. So the spans of a run
// are nested as the work is: run, item, call, attempt.
//
// There is one set of instruments. A collector gets them by OTLP over HTTP, and
// [Telemetry.Handler] shows the same numbers as Prometheus reads them.
//
// Telemetry changes nothing: a collector that is down, slow or rude costs one
// warning and never an item. What is said holds no prompt and no reply unless that is
// asked for, and no key ever.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Options say who watches. With the zero value nobody does.
type Options struct {
	// Version is the version of deem, for those who watch several.
	Version string

	// Log is where events are written as lines of JSON, from Level on; nil means
	// nowhere.
	Log   io.Writer
	Level slog.Level

	// Prometheus makes [Telemetry.Handler] show something.
	Prometheus bool

	// Getenv reads the variables of OpenTelemetry, OTEL_EXPORTER_OTLP_ENDPOINT and
	// its like; nil means that there are none.
	Getenv func(string) string

	// Secrets are blacked out of everything that is said, wherever it comes from.
	Secrets []string

	// Warn is told, once, when something cannot be delivered; nil means nobody is.
	// It is called from any goroutine.
	Warn func(message string)
}

// captureVariable asks for the texts of prompts and replies. It is the name that other
// instrumentations of models use.
const captureVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// flushWait is how long [Telemetry.Close] waits for the last spans and metrics to be
// delivered, and givenUpWait how long when deliveries failed before.
const (
	flushWait   = 3 * time.Second
	givenUpWait = 300 * time.Millisecond
)

// A Telemetry tells those who watch. All methods of a nil *Telemetry work and do
// nothing. It is safe for concurrent use.
type Telemetry struct {
	log     *slog.Logger
	tracer  trace.Tracer
	meters  meters
	redact  redactor
	content bool // prompts and replies are told

	version string
	prom    *sdkmetric.ManualReader // nil unless Prometheus watches
	sender  *sender
	closers []func(context.Context) error
	servers []*server
	once    sync.Once
}

// Start returns a Telemetry for those who watch, nil when nobody does. The exporters
// of OpenTelemetry begin here and own goroutines until [Telemetry.Close].
//
// Settings of OpenTelemetry that make no sense cost a warning and not the run: they are
// often made for a whole machine by somebody else.
func Start(ctx context.Context, o Options) *Telemetry {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	settings, err := readSettings(o.Getenv)
	t := &Telemetry{
		version: o.Version,
		tracer:  tracenoop.NewTracerProvider().Tracer(scope),
		redact:  newRedactor(append(settings.secrets(), o.Secrets...)),
		content: strings.EqualFold(o.Getenv(captureVariable), "true"),
	}
	t.log = newLogger(o.Log, o.Level, t.redact)
	t.sender = newSender(t, o.Warn)
	if err != nil {
		t.sender.warn(fmt.Sprintf("what OpenTelemetry's variables ask for is not sent: %v", err))
	}
	if o.Log == nil && !o.Prometheus && !settings.any() {
		return nil
	}
	t.export(ctx, settings, o.Prometheus)
	return t
}

// Close delivers what was not delivered yet, and waits for that no longer than a few
// seconds. Afterwards nothing is told any more, and all goroutines are gone.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		for _, s := range t.servers {
			s.close()
		}
		wait := flushWait
		if t.sender.failing() {
			wait = givenUpWait
		}
		giveUp := time.AfterFunc(wait, t.sender.kill)
		defer giveUp.Stop()
		var wg sync.WaitGroup
		for _, c := range t.closers {
			wg.Go(func() {
				// The context has no bound: when the time is over the sender fails at
				// once, and exporters that still have something to send end by then.
				if err := c(context.WithoutCancel(t.sender.life)); err != nil {
					t.sender.failed(err)
				}
			})
		}
		wg.Wait()
		t.sender.finish()
	})
}

// Handler returns what Prometheus reads. It is empty unless [Options.Prometheus] was
// set.
func (t *Telemetry) Handler() http.Handler {
	if t == nil || t.prom == nil {
		return http.NotFoundHandler()
	}
	return promHandler{t}
}

// text returns an attribute without secrets. Every attribute that is a text is made
// here.
func (t *Telemetry) text(key, value string) attribute.KeyValue {
	return attribute.String(key, t.redact.clean(value))
}
