package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"deem"
	"deem/internal/catalog"
	"deem/internal/model"
	"deem/internal/queue"
	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/usage"
	"deem/internal/words"
)

// A detachOptions is the options of "deem run" for workers.
type detachOptions struct {
	on       bool
	priority string
	level    queue.Priority // the parsed priority
	bounded  bool           // -j was given, and limits all workers together
}

// checkDetach rejects options that workers cannot handle. Workers use their own keys, so
// this command needs none.
func (a *app) checkDetach(o *runOptions) error {
	if !o.detach.on {
		if o.detach.priority != "" {
			return usage.Errorf("--priority goes with --detach")
		}
		return nil
	}
	var err error
	if o.detach.level, err = queue.ParsePriority(cmp.Or(o.detach.priority, queue.Normal.String())); err != nil {
		return usage.Mark(err)
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--batch", o.batch.on},
		{"--record", o.record != ""},
		{"--queue", o.queue != ""},
		{"--run-timeout", o.runTimeout > 0},
		{"--gate", len(o.gates) > 0 && o.lock.file == "" && !a.fromFile["gate"]}, // deem report checks those of deem.yaml.
		{"--header", len(o.model.Headers) > 0},
		{"--proxy", o.model.Proxy != ""},
		{"--ca-file", o.model.CAFile != ""},
	} {
		if flag.given {
			return usage.Mark(deem.WithHint(fmt.Errorf("%s does not go with --detach", flag.name),
				"give headers, proxies and authorities to the workers, and gates to the report"))
		}
	}
	if !postgres.IsURL(a.db) {
		return usage.Mark(deem.WithHint(errors.New("--detach needs a Postgres, which workers share"), "name it: --db postgres://user@host:5432/database, or DEEM_DB"))
	}
	o.model.Uncalled = true
	return nil
}

func (a *app) openQueue(ctx context.Context, o postgres.Options) (*postgres.Store, *queue.Control, error) {
	if err := a.checkDB(); err != nil {
		return nil, nil, err
	}
	if !postgres.IsURL(a.db) {
		return nil, nil, usage.Mark(deem.WithHint(errors.New("the queue needs a Postgres database"), "name it: --db postgres://user@host:5432/database, or DEEM_DB"))
	}
	st, err := postgres.Open(ctx, a.db, o)
	if err != nil {
		return nil, nil, err
	}
	c, err := queue.Open(ctx, st)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return st, c, nil
}

// notQueued returns an error if workers have the run.
func (a *app) notQueued(ctx context.Context, st store.Store, runID string) error {
	pg, ok := st.(*postgres.Store)
	if !ok {
		return nil
	}
	c, err := queue.Look(ctx, pg)
	if err != nil || c == nil {
		return err
	}
	return c.Busy(ctx, runID)
}

// A queuedRun is the output of "deem run --detach --json" for each run.
type queuedRun struct {
	Run    string `json:"run"`
	Items  int    `json:"items"` // that were queued
	Chunks int    `json:"chunks"`
}

// detach queues the runs for workers.
func (a *app) detach(ctx context.Context, judgings []catalog.Choice, data items, o runOptions) error {
	st, c, err := a.openQueue(ctx, postgres.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	queued := []queuedRun{}
	for _, g := range judgings {
		q, err := a.enqueue(ctx, st, c, g, data, o)
		if err != nil {
			return err
		}
		queued = append(queued, q)
	}
	if a.json {
		return writeJSON(a.out, queued)
	}
	for _, q := range queued {
		fmt.Fprintln(a.out, q.Run)
	}
	a.say("watch with: deem queue; what was found so far: deem report %s", queued[0].Run)
	return nil
}

// enqueue begins the run of one judge and queues it for workers, with the options that they
// need.
func (a *app) enqueue(ctx context.Context, st *postgres.Store, c *queue.Control, g catalog.Choice, data items, o runOptions) (queuedRun, error) {
	r, err := a.newRun(ctx, st, g, data, o, o.batched)
	if err != nil {
		return queuedRun{}, err
	}
	// A worker must be able to build the judge from what the run keeps of it.
	wires := map[string]deem.Model{}
	for _, l := range g.Leaves() {
		wires[l.Wire.Name()+"\x00"+deem.SettingsOf(l.Wire)] = l.Wire
	}
	_, err = storedJudge(r.Spec.Judge, func(name, settings string) (deem.Model, error) {
		m, ok := wires[name+"\x00"+settings]
		if !ok {
			return nil, fmt.Errorf("no model %s", name)
		}
		return m, nil
	})
	if err != nil {
		err = usage.Mark(deem.WithHint(fmt.Errorf("judge %s cannot be left to workers: %w", r.Spec.Judge.Name, err),
			"workers know a judge by what the run keeps of it, and have no files of yours; leave --detach out"))
		return queuedRun{}, errors.Join(err, r.Close())
	}
	if err := r.Begin(ctx); err != nil {
		return queuedRun{}, err
	}
	a.announce(r, o)
	w := queue.Options{
		RPM: o.RPM, TPM: o.TPM, Retries: o.Retries, Timeout: o.model.Timeout, Prices: o.Prices,
		Fresh: o.Fresh, RetryUnjudged: o.RetryUnjudged, Priority: o.detach.level, Version: version(),
	}
	if o.detach.bounded {
		w.Concurrency = o.Concurrency
	}
	if o.maxCost.Set {
		w.MaxMicros = &o.maxCost.Value
	}
	maker, _, _ := strings.Cut(o.model.Name, ":")
	for _, l := range g.Leaves() {
		m := queue.Model{Name: l.Wire.Name(), Settings: deem.SettingsOf(l.Wire), Endpoint: store.CleanEndpoint(model.Endpoint(l.Wire))}
		if own, _, ok := strings.Cut(m.Name, ":"); ok && own == maker {
			m.Options = o.model.AllOptions()
		}
		w.Models = append(w.Models, m)
	}
	var q queue.Queuing
	if err = a.announcePlan(ctx, r, g, data, o); err == nil {
		q, err = c.Enqueue(ctx, queue.Work{Run: r.Run, Items: data.Items(), Options: w})
	}
	if err != nil || q.Chunks == 0 {
		return queuedRun{Run: r.ID}, r.End(ctx, err)
	}
	a.say("%s in %s are left to workers: deem worker --db %s", words.Count(q.Items, "item"), words.Count(q.Chunks, "chunk"), a.dbName())
	return queuedRun{r.ID, q.Items, q.Chunks}, errors.Join(r.Close(), st.Release(r.ID))
}
