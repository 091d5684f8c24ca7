package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

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
	t       *Telemetry
	info    RunInfo
	ctx     context.Context //nolint:containedctx // for events outside of items
	started time.Time

	mu              sync.Mutex // held while a record is reported
	records, failed int
}

// Run starts reporting a run. Judge in the context that it returns, and call [Run.End].
func (t *Telemetry) Run(ctx context.Context, info RunInfo) (context.Context, *Run) {
	if t == nil {
		return ctx, nil
	}
	ctx = context.WithValue(ctx, placeKey{}, &place{run: info.ID})
	r := &Run{t: t, info: info, ctx: ctx, started: time.Now()}
	if info.Limit != nil {
		t.meters.watch(r)
	}
	t.logEvent(ctx, slog.LevelInfo, "run started", func() []slog.Attr {
		return []slog.Attr{
			slog.String("version", t.version), slog.String("judge", info.Judge), slog.String("judge_hash", info.JudgeHash), slog.String("model", info.Model),
			slog.Int("items", info.Items), slog.Int("trials", info.Trials), slog.Int("concurrency", info.Concurrency), slog.Int("records_before", info.Before),
		}
	})
	return ctx, r
}

// Judge returns j, whose events then say which item they are about.
func (r *Run) Judge(j deem.Judge) deem.Judge {
	if r == nil {
		return j
	}
	return watchedJudge{inner: j, run: r}
}

// A watchedJudge puts the item into the context.
type watchedJudge struct {
	inner deem.Judge
	run   *Run
}

var _ deem.Judge = watchedJudge{}

// Name returns the name of the inner judge.
func (w watchedJudge) Name() string { return w.inner.Name() }

// Judge calls the inner judge.
func (w watchedJudge) Judge(ctx context.Context, it deem.Item) (deem.Verdict, error) {
	at := &place{run: w.run.info.ID, item: &it.ID, try: deem.TrialOf(ctx)}
	return w.inner.Judge(context.WithValue(ctx, placeKey{}, at), it)
}

// Add reports a record.
func (r *Run) Add(rec deem.Record) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, judge := r.t, labels{labelJudge: r.t.redact.Replace(r.info.Judge)}
	ctx := context.WithValue(r.ctx, placeKey{}, &place{run: r.info.ID, item: &rec.Item.ID, try: rec.Trial})
	r.records++
	outcome := "judged"
	if f := rec.Failure; f != nil {
		r.failed++
		outcome = "unjudged"
		t.meters.add(metricFailures, 1, judge.with(labelKind, string(f.Kind)))
		t.logEvent(ctx, slog.LevelWarn, "item unjudged", func() []slog.Attr {
			return []slog.Attr{slog.String("judge", r.info.Judge), slog.String("kind", string(f.Kind))}
		})
	} else if v := rec.Verdict; v != nil {
		t.logEvent(ctx, slog.LevelDebug, "item judged", func() []slog.Attr {
			return []slog.Attr{slog.String("judge", r.info.Judge), slog.String("label", v.Label), slog.Float64("score", v.Score)}
		})
	}
	t.meters.add(metricRecords, 1, judge.with(labelOutcome, outcome))
	if r.info.Model != "" {
		return
	}
	// A rule, or a judge with several models. The calls that a rule made for embeddings have
	// no decorator, but are in the record.
	for _, c := range rec.Calls {
		who := t.who(operationEmbeddings, c.Model)
		attempts := c.Attempts
		if c.Reply == nil {
			t.countCall(who, outcomeFailed, deem.Reply{})
		} else {
			attempts = c.Reply.Attempts
			t.countCall(who, outcomeOf(ctx, *c.Reply, nil), *c.Reply)
			t.countTokens(who, c.Reply.Usage)
			t.meters.add(metricDuration, c.Reply.Latency.Seconds(), who)
		}
		if attempts > 1 {
			t.meters.add(metricRetries, float64(attempts-1), who)
		}
	}
}

// End reports the end of the run and its error.
func (r *Run) End(err error) {
	if r == nil {
		return
	}
	r.t.meters.unwatch(r)
	outcome, level := "done", slog.LevelInfo
	switch {
	case err == nil:
	case errors.Is(err, deem.ErrStopped) || errors.Is(err, context.Canceled):
		outcome = outcomeInterrupted
	default:
		outcome, level = outcomeFailed, slog.LevelError
	}
	r.t.logEvent(r.ctx, level, "run ended", func() []slog.Attr {
		attrs := []slog.Attr{slog.String("outcome", outcome), slog.Int("records", r.records), slog.Int("unjudged", r.failed), millis("duration_ms", time.Since(r.started))}
		if level == slog.LevelError {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		return attrs
	})
}
