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
	logEvent func(string)

	life context.Context // done when deliveries must be aborted
	kill context.CancelFunc

	once        sync.Once
	bad         atomic.Bool
	ended, sent atomic.Int64 // spans
	transports  []*http.Transport
}

func newSender(t *Telemetry, warn func(string)) *sender {
	s := &sender{t: t, logEvent: warn}
	s.life, s.kill = context.WithCancel(context.Background())
	return s
}

// maxWarning is the maximum length of a warning. Collectors behind a gateway respond with
// whole pages.
const maxWarning = 300

// warn passes the first message to the user. Later messages are only logged.
func (s *sender) warn(message string) {
	message = s.t.redact.clean(strings.Join(strings.Fields(message), " "))
	if len(message) > maxWarning {
		message = strings.ToValidUTF8(message[:maxWarning], "") + "..."
	}
	s.t.logEvent(context.Background(), slog.LevelWarn, "telemetry trouble", func() []slog.Attr {
		return []slog.Attr{slog.String("error", message)}
	})
	s.once.Do(func() {
		if s.logEvent != nil {
			s.logEvent(message)
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

// failing reports whether a delivery failed.
func (s *sender) failing() bool { return s.bad.Load() }

// finish warns about spans that were dropped silently, and closes connections.
func (s *sender) finish() {
	s.kill()
	if lost := s.ended.Load() - s.sent.Load(); lost > 0 && !s.failing() {
		s.warn(fmt.Sprintf("%d of %d spans were dropped, as they came faster than the collector took them (OTEL_BSP_MAX_QUEUE_SIZE is how many may wait)", lost, s.ended.Load()))
	}
	for _, t := range s.transports {
		t.CloseIdleConnections()
	}
}

// bound returns a copy of ctx that is also done when deliveries must be aborted.
func (s *sender) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
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
