package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"deem"
)

// RunInfo describes the observed run.
type RunInfo struct {
	ID, Judge, JudgeHash string
	Model                string // "" for a rule
	Items, Trials        int
	Concurrency          int // items judged at once
	Before               int // records of earlier parts of the run

	// Limit provides the number of concurrent calls; nil for a rule and for a judge with
	// several models.
	Limit Limit
}

// A Limit limits the concurrent calls of a model.
type Limit interface {
	InFlight() int // calls now
	Current() int  // calls allowed now
}

// A Run reports one run. All methods of a nil *Run do nothing.
type Run struct {
	t    *Telemetry
	info RunInfo
	span trace.Span
	ctx  context.Context //nolint:containedctx // of the run's span, for what happens outside of items
	stop func()

	judged, unjudged attribute.Set
	started          time.Time

	mu              sync.Mutex // held while a record is reported
	records, failed int
}

// Run starts reporting a run. Judge in the context that it returns. [Run.End] must be
// called.
func (t *Telemetry) Run(ctx context.Context, info RunInfo) (context.Context, *Run) {
	if t == nil {
		return ctx, nil
	}
	r := &Run{t: t, info: info, started: time.Now()}
	judge := t.text(attrJudge, info.Judge)
	r.judged = attribute.NewSet(judge, attribute.String(attrOutcome, "judged"))
	r.unjudged = attribute.NewSet(judge, attribute.String(attrOutcome, "unjudged"))
	ctx = context.WithValue(ctx, placeKey{}, &place{run: info.ID})
	ctx, r.span = t.tracer.Start(ctx, "run", trace.WithAttributes(
		t.text(attrRun, info.ID), judge, t.text(attrJudgeHash, info.JudgeHash),
		attribute.Int(attrItems, info.Items), attribute.Int(attrTrials, info.Trials)))
	if info.Model != "" {
		provider, name := split(info.Model)
		r.span.SetAttributes(t.text(attrProvider, provider), t.text(attrRequestModel, name))
	}
	r.ctx = ctx
	r.stop = func() {}
	if l := info.Limit; l != nil {
		m, who := t.meters, metric.WithAttributes(t.who(operationChat, info.Model)...)
		registered, err := m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			o.ObserveInt64(m.inFlight, int64(l.InFlight()), who)
			o.ObserveInt64(m.allowed, int64(l.Current()), who)
			return nil
		}, m.inFlight, m.allowed)
		if err != nil {
			panic(err) // Cannot happen: the instruments are ours.
		}
		r.stop = func() { _ = registered.Unregister() } // It fails only for callbacks that were not registered.
	}
	t.logEvent(ctx, slog.LevelInfo, "run started", func() []slog.Attr {
		return []slog.Attr{
			slog.String("version", t.version), slog.String("judge", info.Judge), slog.String("judge_hash", info.JudgeHash), slog.String("model", info.Model),
			slog.Int("items", info.Items), slog.Int("trials", info.Trials), slog.Int("concurrency", info.Concurrency), slog.Int("records_before", info.Before),
		}
	})
	return ctx, r
}

// Judge returns j with each item reported.
func (r *Run) Judge(j deem.Judge) deem.Judge {
	if r == nil {
		return j
	}
	return watchedJudge{inner: j, run: r}
}

// A watchedJudge reports items.
type watchedJudge struct {
	inner deem.Judge
	run   *Run
}

var _ deem.Judge = watchedJudge{}

// Name returns the name of the inner judge.
func (w watchedJudge) Name() string { return w.inner.Name() }

// Judge calls the inner judge and reports the item.
func (w watchedJudge) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	t, trial := w.run.t, deem.TrialOf(ctx)
	ctx = context.WithValue(ctx, placeKey{}, &place{run: w.run.info.ID, item: &it.ID, try: trial})
	attrs := []attribute.KeyValue{t.text(attrItem, it.ID), attribute.Int(attrTrial, trial), t.text(attrJudge, w.run.info.Judge)}
	if it.Category != "" {
		attrs = append(attrs, t.text(attrCategory, it.Category))
	}
	ctx, span := t.tracer.Start(ctx, "judge "+t.redact.Replace(w.run.info.Judge), trace.WithAttributes(attrs...))
	defer span.End()
	v, err := w.inner.Judge(ctx, it)
	if err == nil {
		span.SetAttributes(t.text(attrLabel, v.Label), attribute.Float64(attrScore, v.Score))
		return v, nil
	}
	kind := errorType(ctx, err)
	f, ok := errors.AsType[*deem.Failure](err)
	if ok {
		kind = string(f.Kind)
	}
	span.SetStatus(codes.Error, kind)
	span.SetAttributes(attribute.String(attrErrorType, kind))
	if ok && t.content { // The detail may quote the reply.
		span.SetAttributes(t.text(attrDetail, f.Detail))
	}
	return v, err
}

// Add reports a record.
func (r *Run) Add(rec deem.Record) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, set := r.t, r.judged
	ctx := context.WithValue(r.ctx, placeKey{}, &place{run: r.info.ID, item: &rec.Item.ID, try: rec.Trial})
	r.records++
	if f := rec.Failure; f != nil {
		r.failed++
		set = r.unjudged
		t.meters.failures.Add(ctx, 1, metric.WithAttributes(t.text(attrJudge, r.info.Judge), attribute.String(attrKind, string(f.Kind))))
		t.logEvent(ctx, slog.LevelWarn, "item unjudged", func() []slog.Attr {
			attrs := []slog.Attr{slog.String("judge", r.info.Judge), slog.String("kind", string(f.Kind))}
			if t.content {
				attrs = append(attrs, slog.String("detail", f.Detail))
			}
			return attrs
		})
	} else if v := rec.Verdict; v != nil {
		t.logEvent(ctx, slog.LevelDebug, "item judged", func() []slog.Attr {
			return []slog.Attr{slog.String("judge", r.info.Judge), slog.String("label", v.Label), slog.Float64("score", v.Score)}
		})
	}
	t.meters.records.Add(ctx, 1, metric.WithAttributeSet(set))
	if r.info.Model != "" {
		return
	}
	// A rule, or a judge with several models. The calls that a rule made for embeddings have
	// no decorator, but are in the record.
	for _, c := range rec.Calls {
		who := t.who(operationEmbeddings, c.Model)
		attempts := c.Attempts
		if c.Reply == nil {
			t.countCall(ctx, who, outcomeFailed, deem.Reply{})
		} else {
			attempts = c.Reply.Attempts
			t.countCall(ctx, who, outcomeOf(ctx, *c.Reply, nil), *c.Reply)
			t.countTokens(ctx, who, c.Reply.Usage)
			t.meters.duration.Record(ctx, c.Reply.Latency.Seconds(), metric.WithAttributes(who...))
		}
		if attempts > 1 {
			t.meters.retries.Add(ctx, int64(attempts-1), metric.WithAttributes(who...))
		}
	}
}

// End reports the end of the run and its error.
func (r *Run) End(err error) {
	if r == nil {
		return
	}
	r.stop()
	outcome, level := "done", slog.LevelInfo
	switch {
	case err == nil:
	case errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled):
		outcome = outcomeInterrupted
	default:
		outcome, level = outcomeFailed, slog.LevelError
		r.span.SetStatus(codes.Error, outcome)
		r.span.SetAttributes(attribute.String(attrErrorType, errorType(context.Background(), err)))
	}
	r.span.SetAttributes(attribute.String(attrRunEnd, outcome), attribute.Int(attrRecords, r.records), attribute.Int(attrUnjudged, r.failed))
	r.t.logEvent(r.ctx, level, "run ended", func() []slog.Attr {
		attrs := []slog.Attr{slog.String("outcome", outcome), slog.Int("records", r.records), slog.Int("unjudged", r.failed), millis("duration_ms", time.Since(r.started))}
		if level == slog.LevelError {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		return attrs
	})
	r.span.End()
}
