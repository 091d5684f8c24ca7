// Package telemetry reports what a run does: as events in a log, and as metrics for
// Prometheus.
//
// [Start] returns nil if neither is configured. A nil [*Telemetry] returns the models and
// judges that it is given unchanged, so that an unobserved run has no overhead.
//
// Otherwise a model gets two decorators. [Telemetry.Wire] is the innermost and sees every
// attempt, as the vendor bills it; [Telemetry.Model] is the outermost and sees calls,
// including retries, waiting and cached replies. [Run.Judge] wraps the judge, so that events
// say which item they are about, and [Run.Add] receives each record.
//
// Telemetry never affects a run, and contains no prompts, replies or keys.
package telemetry

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
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

	// Secrets are redacted from all output.
	Secrets []string
}

// A Telemetry reports runs. All methods of a nil *Telemetry do nothing. It is safe for
// concurrent use.
type Telemetry struct {
	log     *slog.Logger
	meters  meters
	redact  *strings.Replacer // removes secrets
	version string
	handler http.Handler
	servers []func() // stop them
	once    sync.Once
}

// Start returns a Telemetry, or nil if nothing is configured.
func Start(o Options) *Telemetry {
	if o.Log == nil && !o.Prometheus {
		return nil
	}
	t := &Telemetry{
		log:     slog.New(slog.DiscardHandler),
		version: o.Version,
		redact:  newRedactor(o.Secrets),
		handler: http.NotFoundHandler(),
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
	if o.Prometheus {
		t.handler = promHandler{t}
	}
	return t
}

// Close ends what [Telemetry.Serve] started.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		for _, stop := range t.servers {
			stop()
		}
	})
}

// Handler returns the handler for Prometheus. It responds with 404 unless
// [Options.Prometheus] was set.
func (t *Telemetry) Handler() http.Handler {
	if t == nil {
		return http.NotFoundHandler()
	}
	return t.handler
}
