package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// A sender supervises the deliveries to collectors. It counts spans, turns all errors into
// one warning, and can abort deliveries.
type sender struct {
	t        *Telemetry
	tellUser func(string) // nil to tell nobody

	life context.Context // done when deliveries must be aborted
	kill context.CancelFunc

	once        sync.Once
	bad         atomic.Bool
	ended, sent atomic.Int64 // spans
	transports  []*http.Transport
}

// maxWarning is the maximum length of a warning. Collectors behind a gateway respond with
// whole pages.
const maxWarning = 300

// warn passes the first message to the user. Later messages are only logged.
func (s *sender) warn(message string) {
	message = s.t.redact.Replace(strings.Join(strings.Fields(message), " "))
	if len(message) > maxWarning {
		message = strings.ToValidUTF8(message[:maxWarning], "") + "..."
	}
	s.t.logEvent(context.Background(), slog.LevelWarn, "telemetry trouble", func() []slog.Attr {
		return []slog.Attr{slog.String("error", message)}
	})
	s.once.Do(func() {
		if s.tellUser != nil {
			s.tellUser(message)
		}
	})
}

// failed records that something could not be delivered.
func (s *sender) failed(err error) {
	s.bad.Store(true)
	if s.life.Err() != nil {
		err = errors.New("the collector did not take them in time") // and we gave up
	}
	s.warn(fmt.Sprintf("spans and metrics are not delivered, which changes nothing in the run: %v", err))
}

// OnStart does nothing: spans are counted when they end.
func (s *sender) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd counts a span that must be delivered.
func (s *sender) OnEnd(span sdktrace.ReadOnlySpan) {
	if span.SpanContext().IsSampled() {
		s.ended.Add(1)
	}
}

// Shutdown does nothing.
func (s *sender) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (s *sender) ForceFlush(context.Context) error { return nil }
