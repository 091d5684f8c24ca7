package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"deem"
	"deem/internal/catalog"
	"deem/internal/reports"
	"deem/internal/rows"
	"deem/internal/run"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/model/replay"
)

// datasetOf returns the description of the items that a run stores.
func (o dataOptions) datasetOf(data items) store.DatasetSpec {
	d := store.DatasetSpec{Names: data.Names(), Hash: data.Hash(), Items: data.Len()}
	if o.title != "" {
		d.Names = []string{o.title}
	}
	return d
}

// judgeAll begins or resumes the run of one judge and completes it. It returns the id, even
// if the run began and failed, and the live findings, if there are any. If the run ends
// early, it says how far it came and how to resume it.
func (a *app) judgeAll(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions) (id string, live *reports.Reporter, err error) {
	around := o.batched
	if o.record != "" {
		f, failed := os.OpenFile(o.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if failed != nil {
			return "", nil, usage.Mark(failed)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		around = func(m deem.Model) deem.Model { return replay.Recorder(o.batched(m), f) }
	}
	r, err := a.newRun(ctx, st, g, data, o, around)
	if err != nil {
		return "", nil, err
	}
	if err := r.Begin(ctx); err != nil {
		return "", nil, err
	}
	r.Judge = catalog.Answered(r.Judge)
	live, err = a.conduct(ctx, r, g, data, o)
	if err = r.End(ctx, err); err == nil {
		return r.ID, live, nil
	}
	if text := kept(context.WithoutCancel(ctx), r.Setup.Store, r.ID); text != "" {
		a.say("%s in %s as run %s", text, a.dbName(), r.ID)
	}
	switch {
	case !errors.Is(err, deem.ErrStopped) && !errors.Is(err, context.Canceled):
		return r.ID, nil, err
	case !o.deadline.IsZero() && !clock().Before(o.deadline):
		err = fmt.Errorf("%w by --run-timeout %v", errInterrupted, o.runTimeout)
	default:
		err = errInterrupted
	}
	return r.ID, nil, deem.WithHint(err, "resume with: %s", commandLine(a.args))
}

// newRun returns a run that has not begun. It keeps settings of an earlier part of the run:
// its lock, and, if anything was judged, the names under which it was judged.
func (a *app) newRun(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions, around func(deem.Model) deem.Model) (*run.Run, error) {
	options := o.Options
	options.KeepGoing = o.maxUnjudged >= 1 // All items may be unjudged.
	r, err := run.New(run.Setup{
		Store: st, Choice: g, Dataset: o.datasetOf(data), Options: options, Telemetry: a.telemetry, Batched: o.batch.on,
		Busy:   func(ctx context.Context, runID string) error { return a.notQueued(ctx, st, runID) },
		Around: around,
	})
	if err != nil {
		return nil, err
	}
	set := reports.Settings{
		Concurrency: o.Concurrency, Map: o.mapping, Limit: o.limit, Errata: o.errata.file, Corrected: o.errata.corrected,
		System: o.system, SystemModel: o.systemModel, Judge: g.As, Deem: version(), Exclude: o.exclusions, Sample: o.drawn,
	}
	if p := g.Promise; p != nil {
		set.Promise = &reports.Promise{Alpha: p.Alpha, Delta: p.Delta, Labels: p.Labels}
		for _, m := range g.Spec.Members {
			if f, ok := p.Stages[m.Name]; ok {
				set.Promise.Fitted = append(set.Promise.Fitted, reports.Fitted{Stage: m.Name, Labelled: f.Labelled, Decided: f.Decided, Wrong: f.Wrong, Bound: f.Bound})
			}
		}
	}
	if o.by != nil {
		if set.Reader, err = o.readerSettings(g, data); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if l := o.lock.locked; l != nil {
		set.Lock = &reports.LockSettings{Hash: l.Hash(), Created: l.Created, Broken: o.lock.broken, Gates: l.Gates}
	}
	if o.benchmark != nil {
		from := a.benchmarkOptions(o, []catalog.Choice{g})
		set.Benchmark, set.Data, set.Responses = o.benchmark.Name, from.Data, from.Responses
		set.Reading, set.With, set.Judges = from.Reading, from.With, from.Judges
	}
	earlier, found, err := run.Find(ctx, st, r.Spec.Key())
	found = found && !o.Fresh
	if err == nil && o.until != "" {
		set.Until, err = a.untilSettings(ctx, r, earlier.ID, data, o)
	}
	if err == nil && found {
		err = a.inherit(&set, r.Spec, earlier, o)
	}
	if err == nil {
		r.Spec.Settings, err = json.Marshal(set)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// inherit copies settings of an earlier part of a run: its lock, if it is resumed without
// one, and the names under which it was judged. A run cannot be locked after it began,
// because its verdicts may be known. Only a system without a name gets one, from the command
// that judged it: the same answers from another file may be another system's. The store
// keeps the names of the dataset itself.
func (a *app) inherit(set *reports.Settings, now store.Spec, earlier store.Run, o runOptions) error {
	was := reports.SettingsOf(earlier.Spec)
	if locked := o.lock.locked; locked == nil {
		set.Lock = was.Lock
	} else if !o.lock.anyway && earlier.Created.Before(locked.Created) {
		return usage.Mark(deem.WithHint(fmt.Errorf("%s: %s: run %s is of %s, and the lock of %s", o.lock.file, reports.Afterwards, earlier.ID,
			earlier.Created.UTC().Format(time.DateTime), locked.Created.UTC().Format(time.DateTime)), "start a new run with --fresh; or judge this one with --anyway, and every report says what was broken"))
	}
	if earlier.Records == 0 {
		return nil
	}
	if was.Until != nil && set.Until != nil {
		set.Until.Aim = was.Until.Aim // Bets were already made with it.
	}
	var kept []string
	same := slices.Equal(earlier.Dataset.Names, now.Dataset.Names)
	if !same {
		kept = append(kept, fmt.Sprintf("data %s, and not %s", strings.Join(earlier.Dataset.Names, ", "), strings.Join(now.Dataset.Names, ", ")))
		set.Data, set.Responses = was.Data, was.Responses
	}
	keep := func(what, was string, now *string) {
		switch {
		case *now == was || same && was == "":
			return
		case *now != "" && was == "":
			kept = append(kept, fmt.Sprintf("no %s, and not %s", what, *now))
		case *now != "":
			kept = append(kept, fmt.Sprintf("%s %s, and not %s", what, was, *now))
		}
		*now = was
	}
	keep("system", was.System, &set.System)
	keep("system model", was.SystemModel, &set.SystemModel)
	if len(kept) > 0 {
		a.say("run %s keeps the names that it has: %s (--fresh begins another run)", earlier.ID, words.Printable(strings.Join(kept, "; ")))
	}
	return nil
}

// announce says what is about to happen. Some records of the run may be of unfinished
// items.
func (a *app) announce(r *run.Run, o runOptions) {
	total, done := r.Dataset.Items*o.Trials, r.Records-len(r.Unfinished)
	who, does := r.Run.Judge.Name, "judges"
	if o.onlyAnswers {
		does = "answers"
	}
	if r.Run.Model != "" {
		who += " with " + r.Run.Model
	}
	switch {
	case r.Resumed && done >= total && !o.RetryUnjudged:
		a.say("run %s is done already: %s (--fresh starts over)", r.ID, words.Count(done, "record"))
	case r.Resumed:
		a.say("run %s resumes: %s of %s done, %s %s the rest", r.ID, words.Comma(done), words.Comma(total), who, does)
	default:
		a.say("run %s: %s %s %s", r.ID, who, does, words.Count(r.Dataset.Items, "item"))
	}
}

// conduct judges the items of a run that has begun, and returns the live findings, or nil
// if they must be read from the store.
func (a *app) conduct(ctx context.Context, r *run.Run, g catalog.Choice, data items, o runOptions) (*reports.Reporter, error) {
	leaf, _ := g.Single()
	want := reports.Options{MaxUnjudged: o.maxUnjudged, Protocol: leaf.Protocol}
	var live *reports.Reporter
	var err error
	if o.until != "" {
		// The report decides when the run stops, so it begins with the records so far.
		if live, err = reports.NewReporter(ctx, r.Run, want); err != nil {
			return nil, err
		}
		for rec, err := range r.Setup.Store.Records(ctx, r.ID, store.Query{WithCalls: true}) {
			if err != nil {
				return nil, err
			}
			if rec.Failure == nil || !o.RetryUnjudged { // Others are judged again.
				live.Add(rec)
			}
		}
		if live.Builder.Stopped() {
			a.say("run %s was stopped by its rule after %s: another --until resumes it, --fresh starts over", r.ID, words.Count(r.Records, "record"))
			return live, nil
		}
	}
	a.announce(r, o)
	if a.stream {
		if err := a.emitKept(ctx, r.Setup.Store, r.Run); err != nil {
			return nil, err
		}
	}
	if err := a.announcePlan(ctx, r, g, data, o); err != nil {
		return nil, err
	}
	if err := a.throughBatches(ctx, r, g, answered(data), o); err != nil {
		return nil, err
	}
	if live == nil {
		if live, err = reports.NewLiveReporter(ctx, r.Run, want); err != nil {
			return nil, err
		}
	}
	ctx, stop, release := a.watch(ctx, o.deadline)
	defer release()
	p := a.startProgress(r, o)
	defer p.stop()
	return live, r.Do(ctx, run.Job{
		Items: data.Items(), Options: deem.Options{Stop: stop.stop},
		Enough: func() bool { return live != nil && live.Builder.Stopped() },
		Each: func(rec deem.Record) {
			p.add(rec)
			if a.stream {
				a.emit(event{Event: "record", Record: &rec})
			}
			if live == nil {
				return
			}
			if live.Add(rec); live.Builder.Stopped() {
				stop.stopGracefully("the rule of --until holds: calls in flight finish and are kept; Ctrl-C cancels them")
			}
		},
	})
}

// answered returns the items of a set that have a response: those that a batch may include,
// and that are used to test whether a judge can judge them.
func answered(data items) items {
	return view(data, changed(data, func(_ int, it deem.Item) (deem.Item, bool) { return it, it.Fields[rows.NoResponse] == "" }))
}
