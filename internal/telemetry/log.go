package telemetry

import (
	"context"
	"io"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// newLogger returns a logger that writes JSON lines, or one that discards everything if w
// is nil.
func newLogger(w io.Writer, level slog.Level, r redactor) *slog.Logger {
	if w == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindString {
				a.Value = slog.StringValue(r.clean(a.Value.String()))
			}
			return a
		},
	}))
}

// logEvent logs an event with its place in the run. It calls attrs only if the level is
// enabled.
func (t *Telemetry) logEvent(ctx context.Context, level slog.Level, event string, attrs func() []slog.Attr) {
	if !t.log.Enabled(ctx, level) {
		return
	}
	var all []slog.Attr
	if p, ok := ctx.Value(placeKey{}).(*place); ok {
		all = p.attrs()
	}
	if sc := trace.SpanContextFromContext(ctx); sc.IsSampled() {
		all = append(all, slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	t.log.LogAttrs(ctx, level, event, append(all, attrs()...)...)
}

// Program logs a line that a user's program wrote to its standard error.
func (t *Telemetry) Program(name, line string) {
	if t != nil {
		t.log.Info("program", "program", name, "line", line)
	}
}

// A place is a position in a run: the run, item and trial. It is passed in the context.
type place struct {
	run  string
	item *string // nil outside of items
	try  int     // the trial
}

type placeKey struct{}

func (p *place) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.String("run", p.run)}
	if p.item != nil {
		attrs = append(attrs, slog.String("item", *p.item), slog.Int("trial", p.try))
	}
	return attrs
}

// millis returns a duration in milliseconds.
func millis(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(d.Microseconds())/1000)
}
