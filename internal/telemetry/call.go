package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"deem"
)

// A watchedModel reports calls.
type watchedModel struct{ watched }

// Complete calls the inner model and reports the result, including all retries.
func (w *watchedModel) Complete(ctx context.Context, req deem.Request) (deem.Reply, error) {
	attrs := slices.Clip(w.spans)
	if req.MaxTokens > 0 {
		attrs = append(attrs, attribute.Int(attrMaxTokens, req.MaxTokens))
	}
	if req.Temperature != nil {
		attrs = append(attrs, attribute.Float64(attrTemperature, *req.Temperature))
	}
	if req.TopP != nil {
		attrs = append(attrs, attribute.Float64(attrTopP, *req.TopP))
	}
	if req.Seed != nil {
		attrs = append(attrs, attribute.Int64(attrSeed, *req.Seed))
	}
	if req.JSON || len(req.Schema) > 0 {
		attrs = append(attrs, attribute.String(attrOutputType, "json"))
	}
	ctx, span := w.t.tracer.Start(context.WithValue(ctx, callKey{}, &call{}), operationChat+" "+w.t.redact.Replace(w.model),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	defer span.End()
	start := time.Now()
	reply, err := w.inner.Complete(ctx, req)
	took := time.Since(start)

	w.t.countCall(ctx, w.who, outcomeOf(ctx, reply, err), reply)
	if span.IsRecording() {
		if w.t.content {
			span.SetAttributes(w.t.contentAttrs(req, reply, err)...)
		}
		w.describe(ctx, span, reply, err)
	}
	w.log(ctx, req, reply, err, took)
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
func (t *Telemetry) countCall(ctx context.Context, who []attribute.KeyValue, outcome string, reply deem.Reply) {
	t.meters.calls.Add(ctx, 1, metric.WithAttributes(with(who, attribute.String(attrOutcome, outcome))...))
	if outcome != outcomeReplied && outcome != outcomeBatched {
		return
	}
	if outcome == outcomeBatched {
		t.countTokens(ctx, who, reply.Usage) // not counted by any attempt
	}
	t.meters.cost.Add(ctx, reply.CostMicros, metric.WithAttributes(who...))
	if reply.Unpriced {
		t.meters.unpriced.Add(ctx, 1, metric.WithAttributes(who...))
	}
}

// describe writes the result of a call into its span. Tokens and cost of a cached reply are
// omitted: a sum over spans would count them twice.
func (w *watchedModel) describe(ctx context.Context, span trace.Span, reply deem.Reply, err error) {
	if err != nil {
		kind := errorType(ctx, err)
		span.SetStatus(codes.Error, kind)
		span.SetAttributes(attribute.String(attrErrorType, kind))
		if me, ok := errors.AsType[*deem.ModelError](err); ok && me.Attempts > 0 {
			span.SetAttributes(attribute.Int(attrAttempts, me.Attempts))
		}
		return
	}
	attrs := []attribute.KeyValue{
		w.t.text(attrResponseModel, cmp.Or(reply.Model, w.model)),
		attribute.StringSlice(attrFinish, []string{finish(reply.Stop)}),
		attribute.Bool(attrCached, reply.Cached),
	}
	if reply.RequestID != "" {
		attrs = append(attrs, w.t.text(attrResponseID, reply.RequestID))
	}
	if !reply.Cached {
		attrs = append(attrs, attribute.Int(attrInputTokens, reply.Usage.Input), attribute.Int(attrOutputTokens, reply.Usage.Output),
			attribute.Int(attrAttempts, reply.Attempts))
		if !reply.Unpriced {
			attrs = append(attrs, attribute.Int64(attrCostMicros, reply.CostMicros))
		}
	}
	span.SetAttributes(attrs...)
}

// finish returns the name of a stop reason in the OpenTelemetry conventions.
func finish(s deem.Stop) string {
	switch s {
	case deem.StopEnd:
		return "stop"
	case deem.StopFilter:
		return "content_filter"
	default:
		return string(s)
	}
}

// log logs a call: failures as warnings, replies at debug level.
func (w *watchedModel) log(ctx context.Context, req deem.Request, reply deem.Reply, err error, took time.Duration) {
	about := func(more ...slog.Attr) []slog.Attr {
		attrs := append([]slog.Attr{slog.String("model", w.Name()), millis("duration_ms", took)}, more...)
		if w.t.content {
			attrs = append(attrs, slog.Any("messages", w.t.cleaned(req.Messages)), slog.String("reply", reply.Text))
		}
		return attrs
	}
	if err != nil {
		level := slog.LevelWarn
		if ctx.Err() != nil {
			level = slog.LevelDebug
		}
		w.t.logEvent(ctx, level, "call failed", func() []slog.Attr { return about(w.t.errorAttrs(errorType(ctx, err), err)...) })
		return
	}
	w.t.logEvent(ctx, slog.LevelDebug, "call", func() []slog.Attr {
		return about(
			slog.String("response_model", reply.Model), slog.String("request_id", reply.RequestID), slog.String("stop", string(reply.Stop)),
			slog.Bool("cached", reply.Cached), slog.Int("attempts", reply.Attempts), millis("latency_ms", reply.Latency),
			slog.Int("input_tokens", reply.Usage.Input), slog.Int("output_tokens", reply.Usage.Output),
			slog.Int64("cost_micros", reply.CostMicros), slog.Bool("unpriced", reply.Unpriced))
	})
}

// cleaned returns messages without secrets.
func (t *Telemetry) cleaned(list []deem.Message) []deem.Message {
	clean := make([]deem.Message, len(list))
	for i, m := range list {
		clean[i] = deem.Message{Role: m.Role, Content: t.redact.Replace(m.Content)}
	}
	return clean
}

// A chatMessage is a message in the format of the OpenTelemetry conventions.
type chatMessage struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// contentAttrs returns the texts of a call, which are sent only on request.
func (t *Telemetry) contentAttrs(req deem.Request, reply deem.Reply, err error) []attribute.KeyValue {
	var instructions []part
	var input []chatMessage
	for _, m := range t.cleaned(req.Messages) {
		p := part{Type: "text", Content: m.Content}
		if m.Role == "system" {
			instructions = append(instructions, p)
		} else {
			input = append(input, chatMessage{Role: m.Role, Parts: []part{p}})
		}
	}
	attrs := []attribute.KeyValue{jsonAttr(attrInput, input)}
	if len(instructions) > 0 {
		attrs = append(attrs, jsonAttr(attrInstructions, instructions))
	}
	if err == nil {
		answer := chatMessage{Role: "assistant", Parts: []part{{Type: "text", Content: t.redact.Replace(cmp.Or(reply.Text, reply.Refusal))}}, Finish: finish(reply.Stop)}
		attrs = append(attrs, jsonAttr(attrOutput, []chatMessage{answer}))
	}
	return attrs
}

// jsonAttr returns a value as JSON. The caller has removed secrets from it.
func jsonAttr(key string, v any) attribute.KeyValue {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // Cannot happen: strings can always be encoded.
	}
	return attribute.String(key, string(text))
}
