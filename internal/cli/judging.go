package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"deem"
	"deem/internal/catalog"
	"deem/internal/conduct"
	"deem/internal/findings"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/internal/words"
	"deem/judge/rule"
	"deem/model"
	"deem/model/replay"
)

// spec says what the run is.
func (a *app) spec(g catalog.Choice, j deem.Judge, data items, o runOptions) (store.Spec, error) {
	who, err := conduct.Describe(j, !g.Spec.Asks())
	if err != nil {
		return store.Spec{}, err
	}
	s := store.Spec{
		Judge:   who,
		Dataset: store.DatasetSpec{Names: data.Names(), Hash: data.Hash(), Items: data.Len()},
		Trials:  o.trials,
	}
	if o.title != "" {
		s.Dataset.Names = []string{o.title}
	}
	s.Model, s.Endpoint = g.Models()
	set := findings.Settings{
		Concurrency: o.concurrency, Map: o.mapping, Limit: o.limit, Errata: o.errata.file, Corrected: o.errata.corrected,
		System: o.system.name, SystemModel: o.system.model, Judge: g.As, Promise: g.Promise, Deem: version(), Exclude: o.exclusions, Sample: o.drawn, Lock: o.lock.settings(),
	}
	if o.benchmark != nil {
		from := a.benchmarkOptions(o, []catalog.Choice{g})
		set.Benchmark, set.Data, set.Responses = o.benchmark.Name, from.Data, from.Responses
		set.Reading, set.With = from.Reading, from.With
	}
	s.Settings, err = json.Marshal(set)
	return s, err
}

// pay reads the prices and fills the purse, once for all judges of the command.
func (o *runOptions) pay() error {
	if o.pricesFile != "" {
		prices, err := model.LoadPrices(o.pricesFile)
		if err != nil {
			return usage.Mark(err)
		}
		o.prices = prices
	}
	if o.maxCost.Set {
		o.purse = model.NewPurse(o.maxCost.Value)
	}
	return nil
}

// affordable refuses a model whose price nobody knows when there is a budget.
func (o runOptions) affordable(name string) error {
	return o.affordableAt(name, model.OwnTier(o.model.Elsewhere(name).Options["service-tier"]))
}

// affordableAt is affordable for a class of service.
func (o runOptions) affordableAt(name, tier string) error {
	if _, ok := o.prices.OfTier(name, tier); !ok && o.purse != nil {
		return usage.Mark(model.Unpriced(name, tier))
	}
	return nil
}

// openEmbedder opens what --embeddings names.
func (a *app) openEmbedder(o runOptions) (rule.Embedder, error) {
	return a.env.OpenEmbedder(o.embeddings, o.model, func(e rule.Embedder) (rule.Embedder, error) {
		if err := o.affordableAt(e.Name(), ""); err != nil { // Embeddings have no classes of service.
			return nil, err
		}
		embedder := model.Embed(e, o.decorators())
		a.tellAbsence(embedder.Model())
		return embedder, nil
	})
}

// decorators are what goes around every model that is asked.
func (o runOptions) decorators() model.Options {
	return model.Options{
		Retry:  model.RetryOptions{Attempts: o.retries + 1},
		Limit:  model.LimitOptions{Concurrency: o.concurrency, RPM: o.rpm, TPM: o.tpm},
		Prices: o.prices,
		Purse:  o.purse,
	}
}

// decorate puts the decorators around the wire. The store is the reply cache. Answered
// reports whether the run has a verdict already.
func (a *app) decorate(wire deem.Model, st store.Store, o runOptions, answered func() bool) (deem.Model, func() error, error) {
	if wire == nil {
		return nil, func() error { return nil }, nil
	}
	opts := o.decorators()
	opts.Replies, opts.Answered = st, answered
	// What could not be read once cannot be read from the cache either.
	opts.Cache = model.CacheOptions{Fresh: o.fresh || o.retryUnjudged}
	m := a.telemetry.Model(o.batched(model.Assemble(a.telemetry.Wire(wire), opts)))
	a.tellAbsence(m)
	if o.record == "" {
		return m, func() error { return nil }, nil
	}
	f, err := os.OpenFile(o.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usage.Mark(err)
	}
	return replay.Recorder(m, f), f.Close, nil
}

// judgeAll begins or continues the run of one judge, takes it to its end, and returns
// its id and, if it was made on the way, what it found.
func (a *app) judgeAll(ctx context.Context, st store.Store, g catalog.Choice, data items, o runOptions) (string, *findings.Reporter, error) {
	var run store.Run // which the models know only once it has begun
	j, m, closeModels, err := g.Assemble(func(wire deem.Model) (deem.Model, func() error, error) {
		return a.decorate(wire, st, o, func() bool { return run.Answered() })
	})
	if err != nil {
		return "", nil, err
	}
	s, err := a.spec(g, j, data, o)
	if err != nil {
		return "", nil, err
	}
	if o.until.on() {
		set := findings.SettingsOf(s)
		if set.Until, err = a.untilSettings(ctx, st, s, data, o); err != nil {
			return "", nil, err
		}
		if s.Settings, err = json.Marshal(set); err != nil {
			return "", nil, err
		}
	}
	j = answeredJudge{j}
	if s, err = a.heir(ctx, st, s, o); err != nil {
		return "", nil, err
	}
	var resumed bool
	if run, resumed, err = st.Begin(ctx, s, o.fresh); err != nil {
		return "", nil, err
	}
	if err := a.notQueued(ctx, st, run.ID); err != nil {
		return "", nil, conduct.End(ctx, st, run, err)
	}
	account := conduct.OpenAccount(st, run, o.purse)
	unfinished, err := conduct.Unfinished(ctx, st, run)
	if err != nil {
		return "", nil, conduct.End(ctx, st, run, err)
	}
	o.unfinished = len(unfinished)
	var live *findings.Reporter
	if o.until.on() {
		if live, err = o.resume(ctx, st, run); err != nil {
			return "", nil, conduct.End(ctx, st, run, err)
		}
		if live.Builder.Stopped() {
			a.ruleHolds(run)
			return run.ID, live, conduct.End(ctx, st, run, closeModels())
		}
	}
	a.announce(run, resumed, o)
	if a.stream {
		if err := a.emitKept(ctx, st, run); err != nil {
			return "", nil, conduct.End(ctx, st, run, err)
		}
	}
	if err = a.foretell(ctx, st, run, g, data, o); err == nil {
		err = a.throughBatches(ctx, st, run, g, m, answeredItems{data}, o)
	}
	if err == nil && live == nil {
		live, err = findings.NewLiveReporter(ctx, run, o.maxUnjudged)
	}
	if err == nil {
		err = a.judge(ctx, st, run, j, m, data, o, live)
	}
	if err = conduct.End(ctx, st, run, errors.Join(err, closeModels(), account.Close(ctx))); err != nil {
		return "", nil, a.unfinished(ctx, st, run, o, err)
	}
	return run.ID, live, forgetBatches(ctx, st, run.ID)
}

// heir returns the spec of a run with what it keeps of an earlier part of it: its lock,
// and the names of what was judged if anything was.
func (a *app) heir(ctx context.Context, st store.Store, s store.Spec, o runOptions) (store.Spec, error) {
	if o.fresh {
		return s, nil
	}
	earlier, ok, err := begun(ctx, st, s.Key())
	if err != nil || !ok {
		return s, err
	}
	set := findings.SettingsOf(s)
	if set.Lock, err = o.lock.heir(earlier); err != nil {
		return s, err
	}
	if was := findings.SettingsOf(earlier.Spec).Until; earlier.Records > 0 && was != nil && set.Until != nil {
		set.Until.Aim = was.Aim // The bets were made.
	}
	if earlier.Records > 0 {
		if kept := keepNames(&set, s, earlier); len(kept) > 0 {
			a.say("run %s keeps the names that it has: %s (--fresh begins another run)", earlier.ID, words.Printable(strings.Join(kept, "; ")))
		}
	}
	s.Settings, err = json.Marshal(set)
	return s, err
}

// keepNames puts the names under which the earlier run was judged into the settings, and
// says which of those that were given now are others. The store keeps those of the
// dataset itself. Only a system without a name is given one, by the command that judged
// it: the same answers from another file may be another system's.
func keepNames(set *findings.Settings, now store.Spec, earlier store.Run) (kept []string) {
	was := findings.SettingsOf(earlier.Spec)
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
	return kept
}

// announce says what is about to happen. Of the records of the run some may be of items
// that are not done.
func (a *app) announce(run store.Run, resumed bool, o runOptions) {
	total, done := run.Dataset.Items*o.trials, run.Records-o.unfinished
	who := run.Judge.Name
	if run.Model != "" {
		who += " with " + run.Model
	}
	switch {
	case resumed && done >= total && !o.retryUnjudged:
		a.say("run %s is done already: %s (--fresh starts over)", run.ID, words.Count(done, "record"))
	case resumed:
		a.say("run %s goes on: %s of %s done, %s judges the rest", run.ID, words.Comma(done), words.Comma(total), who)
	default:
		a.say("run %s: %s judges %s", run.ID, who, words.Count(run.Dataset.Items, "item"))
	}
}

// judge goes through the items and hands the records to the store and to live, unless
// that is nil. What ends it early comes as an error.
func (a *app) judge(ctx context.Context, st store.Store, run store.Run, j deem.Judge, m deem.Model, data items, o runOptions, live *findings.Reporter) error {
	enough := make(chan struct{}) // closed when the rule of the run holds
	ctx, stop, release := a.watch(ctx, o.deadline, enough)
	defer release()
	p := a.startProgress(run, o, m)
	ctx, told := a.telemetry.Run(ctx, runInfo(run, m, o))
	err := conduct.Job{
		Store: st, Run: run, Judge: told.Judge(j), Items: data.Items(), RetryUnjudged: o.retryUnjudged,
		Options: deem.Options{Concurrency: o.concurrency, Trials: o.trials, Stop: stop},
		Each: func(rec deem.Record) {
			p.add(rec)
			told.Add(rec)
			if a.stream {
				a.emit(event{Event: "record", Record: &rec})
			}
			if live == nil {
				return
			}
			before := live.Builder.Stopped()
			if live.Add(rec); live.Builder.Stopped() && !before {
				close(enough)
			}
		},
	}.Do(ctx)
	err = stoppedByRule(live, err)
	p.stop()
	told.End(err)
	return err
}
