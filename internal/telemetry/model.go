package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"deem"
)

// Wire returns wire with each attempt reported. It belongs below the limiter, so that time
// spent waiting for a slot does not count as the model's latency.
func (t *Telemetry) Wire(wire deem.Model) deem.Model {
	if t == nil || wire == nil {
		return wire
	}
	return &watchedWire{t.watch(wire)}
}

// Model returns m with each call reported. It goes around all other decorators, so that a
// call is counted once, however many times it was tried.
func (t *Telemetry) Model(m deem.Model) deem.Model {
	if t == nil || m == nil {
		return m
	}
	return &watchedModel{t.watch(m)}
}

// watched is the common part of both decorators.
type watched struct {
	t     *Telemetry
	inner deem.Model
	model string // without its vendor
	who   labels // of every metric
}

func (t *Telemetry) watch(m deem.Model) watched {
	_, model := split(m.Name())
	return watched{t: t, inner: m, model: model, who: t.who(operationChat, m.Name())}
}

// who returns the labels for the operation, provider and model.
func (t *Telemetry) who(operation, name string) labels {
	provider, model := split(name)
	return labels{labelOperation: operation, labelProvider: t.redact.Replace(provider), labelRequestModel: t.redact.Replace(model)}
}

// split splits "vendor:name", and returns the vendor's name in the conventions.
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
		w.t.meters.add(metricRetries, 1, w.who.with(labelErrorType, last))
	}
	start := time.Now()
	reply, err := w.inner.Complete(ctx, req)
	took := time.Since(start)

	kind := errorType(ctx, err)
	c.mu.Lock()
	c.last = kind
	c.mu.Unlock()
	if kind == "" {
		who := w.who.with(labelResponseModel, w.t.redact.Replace(cmp.Or(reply.Model, w.model)))
		w.t.countTokens(who, reply.Usage)
		w.t.meters.add(metricDuration, took.Seconds(), who)
		return reply, err
	}
	w.t.meters.add(metricDuration, took.Seconds(), w.who.with(labelErrorType, kind))
	level := slog.LevelWarn
	if kind == "canceled" {
		level = slog.LevelDebug // the run was stopped; the model did not fail
	}
	w.t.logEvent(ctx, level, "attempt failed", func() []slog.Attr {
		return append([]slog.Attr{slog.String("model", w.Name()), slog.Int("attempt", n), millis("duration_ms", took)}, errorAttrs(kind, err)...)
	})
	return reply, err
}

// errorAttrs returns the parts of an error that may be logged. A vendor's message about a
// single request may quote the prompt, so it is omitted.
func errorAttrs(kind string, err error) []slog.Attr {
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
	if me.Passing || me.Fatal {
		attrs = append(attrs, slog.String("error", me.Error()))
	}
	return attrs
}

type watchedModel struct{ watched }

// Complete calls the inner model and reports the result, including all retries.
func (w *watchedModel) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	ctx = context.WithValue(ctx, callKey{}, &call{})
	start := time.Now()
	reply, err := w.inner.Complete(ctx, req)
	took := time.Since(start)

	w.t.countCall(w.who, outcomeOf(ctx, reply, err), reply)
	if err == nil {
		w.t.logEvent(ctx, slog.LevelDebug, "call", func() []slog.Attr {
			return []slog.Attr{
				slog.String("model", w.Name()), millis("duration_ms", took),
				slog.String("response_model", reply.Model), slog.String("request_id", reply.RequestID), slog.String("stop", string(reply.Stop)),
				slog.Bool("cached", reply.Cached), slog.Int("attempts", reply.Attempts), millis("latency_ms", reply.Latency),
				slog.Int("input_tokens", reply.Usage.Input), slog.Int("output_tokens", reply.Usage.Output),
				slog.Int64("cost_micros", reply.CostMicros), slog.Bool("unpriced", reply.Unpriced),
			}
		})
		return reply, nil
	}
	level := slog.LevelWarn
	if ctx.Err() != nil {
		level = slog.LevelDebug
	}
	w.t.logEvent(ctx, level, "call failed", func() []slog.Attr {
		return append([]slog.Attr{slog.String("model", w.Name()), millis("duration_ms", took)}, errorAttrs(errorType(ctx, err), err)...)
	})
	return reply, err
}

// outcomeOf returns the outcome of a call in one word.
func outcomeOf(ctx context.Context, reply deem.Reply, err error) string {
	switch {
	case err != nil && ctx.Err() != nil:
		return outcomeInterrupted
	case err != nil:
		return outcomeFailed
	case reply.Cached:
		return outcomeCached
	case reply.Batch != "":
		return outcomeBatched
	default:
		return outcomeReplied
	}
}

// countCall counts a call and its cost. The cost of a cached reply was counted when it was
// paid.
func (t *Telemetry) countCall(who labels, outcome string, reply deem.Reply) {
	t.meters.add(metricCalls, 1, who.with(labelOutcome, outcome))
	if outcome != outcomeReplied && outcome != outcomeBatched {
		return
	}
	if outcome == outcomeBatched {
		t.countTokens(who, reply.Usage) // not counted by any attempt
	}
	t.meters.add(metricCost, float64(reply.CostMicros), who)
	if reply.Unpriced {
		t.meters.add(metricUnpriced, 1, who)
	}
}

// countTokens counts the tokens of a reply. If a vendor does not count tokens, nothing is
// recorded, which is not the same as 0.
func (t *Telemetry) countTokens(who labels, u deem.Usage) {
	if u.Input == 0 && u.Output == 0 {
		return
	}
	t.meters.add(metricTokens, float64(u.Input), who.with(labelTokenType, "input"))
	t.meters.add(metricTokens, float64(u.Output), who.with(labelTokenType, "output"))
}
