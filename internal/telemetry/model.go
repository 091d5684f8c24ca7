package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"deem"
)

// Wire returns wire, which calls the server at endpoint, with each attempt reported. It belongs
// below the limiter, so that time spent waiting for a slot does not count as the model's
// latency. The endpoint may be "".
func (t *Telemetry) Wire(wire deem.Model, endpoint string) deem.Model {
	if t == nil || wire == nil {
		return wire
	}
	return &watchedWire{watched: t.watch(wire, endpoint)}
}

// Model returns m with each call reported. It goes around all other decorators, so that a
// call is counted once, however many times it was tried.
func (t *Telemetry) Model(m deem.Model, endpoint string) deem.Model {
	if t == nil || m == nil {
		return m
	}
	return &watchedModel{watched: t.watch(m, endpoint)}
}

// watched is the common part of both decorators.
type watched struct {
	t     *Telemetry
	inner deem.Model

	provider, model string
	who             []attribute.KeyValue // attributes of every metric
	spans           []attribute.KeyValue // attributes of every span
}

func (t *Telemetry) watch(m deem.Model, endpoint string) watched {
	w := watched{t: t, inner: m}
	w.provider, w.model = split(m.Name())
	w.who = t.who(operationChat, m.Name())
	w.spans = append(slices.Clone(w.who), t.text(attrSystem, w.provider))
	if u, err := url.Parse(endpoint); err == nil && u.Hostname() != "" {
		port := 443
		if n, err := strconv.Atoi(u.Port()); err == nil {
			port = n
		} else if u.Scheme == "http" {
			port = 80
		}
		w.spans = append(w.spans, t.text(attrAddress, u.Hostname()), attribute.Int(attrPort, port))
	}
	return w
}

// who returns the attributes for the operation, provider and model.
func (t *Telemetry) who(operation, name string) []attribute.KeyValue {
	provider, model := split(name)
	return []attribute.KeyValue{attribute.String(attrOperation, operation), t.text(attrProvider, provider), t.text(attrRequestModel, model)}
}

// split splits "vendor:name", and returns the vendor's name in the OpenTelemetry
// conventions.
func split(name string) (provider, model string) {
	vendor, model, ok := strings.Cut(name, ":")
	if !ok {
		return name, name
	}
	if p, ok := providers[vendor]; ok {
		vendor = p
	}
	return vendor, model
}

// Name returns the name of the inner model.
func (w *watched) Name() string { return w.inner.Name() }

// Unwrap returns the inner model.
func (w *watched) Unwrap() deem.Model { return w.inner }

// A call is the state that the attempts of one call share. The outer decorator puts it into
// the context, where the inner one finds it.
type call struct {
	mu       sync.Mutex
	attempts int
	last     string // the error type of the last attempt
}

type callKey struct{}

// errorType returns the type of an error in one word, or "" without an error: an HTTP
// status, a kind of failure, or "canceled". The number of different words is small, so that
// they can be used as labels.
func errorType(ctx context.Context, err error) string {
	me, ok := errors.AsType[*deem.ModelError](err)
	switch {
	case err == nil:
		return ""
	case ok && me.Status != 0:
		return strconv.Itoa(me.Status)
	case ok && me.Kind != "":
		return string(me.Kind)
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return "canceled"
	default:
		return "_OTHER"
	}
}

// A watchedWire reports attempts.
type watchedWire struct{ watched }

// Complete calls the inner model and reports the attempt.
func (w *watchedWire) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		c = &call{}
	}
	c.mu.Lock()
	c.attempts++
	n, last := c.attempts, c.last
	c.mu.Unlock()
	if n > 1 {
		w.t.meters.retries.Add(ctx, 1, metric.WithAttributes(with(w.who, attribute.String(attrErrorType, last))...))
	}
	ctx, span := w.t.tracer.Start(ctx, "attempt", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(with(w.spans, attribute.Int(attrAttempt, n))...))
	defer span.End()
	start := time.Now()
	reply, err := w.inner.Complete(ctx, req)
	took := time.Since(start)

	kind := errorType(ctx, err)
	c.mu.Lock()
	c.last = kind
	c.mu.Unlock()
	attrs := w.who
	if kind != "" {
		attrs = with(attrs, attribute.String(attrErrorType, kind))
		span.SetStatus(codes.Error, kind)
		span.SetAttributes(attribute.String(attrErrorType, kind))
		me, _ := errors.AsType[*deem.ModelError](err)
		if me != nil && me.Status != 0 {
			span.SetAttributes(attribute.Int(attrStatus, me.Status))
		}
		if me != nil && me.RetryAfter > 0 {
			span.SetAttributes(attribute.Int64(attrRetryAfter, me.RetryAfter.Milliseconds()))
		}
		level := slog.LevelWarn
		if kind == "canceled" {
			level = slog.LevelDebug // the run was stopped; the model did not fail
		}
		w.t.logEvent(ctx, level, "attempt failed", func() []slog.Attr {
			return append([]slog.Attr{slog.String("model", w.Name()), slog.Int("attempt", n), millis("duration_ms", took)}, w.t.errorAttrs(kind, err)...)
		})
	} else {
		attrs = with(attrs, w.t.text(attrResponseModel, cmp.Or(reply.Model, w.model)))
		w.t.countTokens(ctx, attrs, reply.Usage)
	}
	w.t.meters.duration.Record(ctx, took.Seconds(), metric.WithAttributes(attrs...))
	return reply, err
}

// errorAttrs returns the parts of an error that may be logged. A vendor's message about a
// single request may quote the prompt, so it is omitted unless content may be logged.
func (t *Telemetry) errorAttrs(kind string, err error) []slog.Attr {
	attrs := []slog.Attr{slog.String("error_type", kind)}
	me, ok := errors.AsType[*deem.ModelError](err)
	if !ok {
		return attrs
	}
	if me.Status != 0 {
		attrs = append(attrs, slog.Int("status", me.Status))
	}
	if me.Code != "" {
		attrs = append(attrs, slog.String("code", me.Code))
	}
	if me.RetryAfter > 0 {
		attrs = append(attrs, millis("retry_after_ms", me.RetryAfter))
	}
	attrs = append(attrs, slog.Bool("passing", me.Passing), slog.Bool("fatal", me.Fatal))
	if me.Passing || me.Fatal || t.content {
		attrs = append(attrs, slog.String("error", me.Error()))
	}
	return attrs
}

// countTokens counts the tokens of a reply. If a vendor does not count tokens, nothing is
// recorded, which is not the same as 0.
func (t *Telemetry) countTokens(ctx context.Context, who []attribute.KeyValue, u deem.Usage) {
	if u.Input == 0 && u.Output == 0 {
		return
	}
	t.meters.tokens.Record(ctx, int64(u.Input), metric.WithAttributes(with(who, attribute.String(attrTokenType, "input"))...))
	t.meters.tokens.Record(ctx, int64(u.Output), metric.WithAttributes(with(who, attribute.String(attrTokenType, "output"))...))
}

// with returns attrs followed by more. It does not change attrs.
func with(attrs []attribute.KeyValue, more ...attribute.KeyValue) []attribute.KeyValue {
	return append(slices.Clip(attrs), more...)
}
