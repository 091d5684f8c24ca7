package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/judge"
	"deem/judge/cascade"
	"deem/judge/panel"
	"deem/report"
)

// A Found is the result of a run, with its benchmark's own numbers.
type Found struct {
	Run       store.Run
	Report    report.Report
	Published benchmark.Metrics // nil if the run is of a file of items
}

// Options configures a report.
type Options struct {
	MaxUnjudged float64           // the share of unjudged items above which the score is withheld
	Bootstrap   *report.Bootstrap // nil means intervals from formulas
	Redacted    bool              // the texts of the items were removed
	Protocol    judge.Readable    // of the run's judge, if it was built already
}

// A Reporter makes the report of a run from its records. It parses every reply again under
// the judge's other reading, which costs nothing. For the run of a benchmark it also
// computes the benchmark's own metrics.
type Reporter struct {
	Builder   *report.Builder
	other     judge.Readable    // nil if there is no other reading
	Published benchmark.Metrics // nil if there are none
	redacted  bool              // the texts of the items were removed

	// A run with a stopping rule is evaluated in the order of its items, whatever the order
	// in which they were judged: early has the records that wait for the one at next.
	early map[int]deem.Record // by position; nil without a rule
	next  int
}

// NewReporter returns the reporter of a run. Without texts, replies cannot be parsed again,
// and a benchmark's own metrics may lack data.
func NewReporter(ctx context.Context, run store.Run, want Options) (*Reporter, error) {
	h := Head(run, want.MaxUnjudged)
	h.Bootstrap = want.Bootstrap
	p := want.Protocol
	if p == nil {
		var err error
		if p, err = Protocol(run); err != nil {
			return nil, err
		}
	}
	b, set, err := Benchmark(run)
	if err != nil {
		return nil, err
	}
	r := &Reporter{redacted: want.Redacted}
	if b != nil {
		if slices.Contains(b.Judges, run.Judge.Name) && (b.Origin == nil || b.Origin(run.Judge.Name).Vendor == "") {
			h.JudgeNote = cmp.Or(b.Note, h.JudgeNote)
		}
		o := set.BenchmarkOptions()
		o.MaxUnjudged = want.MaxUnjudged
		if r.Published, err = b.Metrics(ctx, o); err != nil {
			return nil, usage.Mark(err)
		}
	}
	if h.Until != nil {
		r.early = map[int]deem.Record{}
	}
	if p != nil {
		h.Reading = p.Reading()
		if p.FailuresWrong() {
			h.UpstreamName = p.Name() + ", as published"
		}
		r.other = p.Reread()
	}
	if want.Redacted {
		r.other, r.Published = nil, nil
	}
	r.Builder = report.New(h)
	return r, nil
}

// Add adds a record. A benchmark's own metrics need records in the order of the dataset;
// everything else does not depend on the order.
func (r *Reporter) Add(rec deem.Record) {
	if r.early == nil {
		r.add(rec)
		return
	}
	r.early[rec.Position] = rec
	for {
		rec, ok := r.early[r.next]
		if !ok || store.IsUnfinished(rec) {
			return
		}
		delete(r.early, r.next)
		r.next++
		r.add(rec)
	}
}

func (r *Reporter) add(rec deem.Record) {
	if !r.Builder.Add(rec) {
		return
	}
	if r.Published != nil && rec.Trial == 0 {
		r.Published.Add(rec)
	}
	if r.other == nil {
		return
	}
	if v, f, ok := Reread(r.other, rec); ok {
		r.Builder.AddReread(r.other.Reading(), rec, v, f)
	}
}

// NewLiveReporter returns the reporter of a run that is about to begin, which is given the
// records as they arrive, so that they need not be read from the store at the end. It
// returns nil if the report must be read from the store, because earlier records or the
// order of the records matter.
func NewLiveReporter(ctx context.Context, run store.Run, want Options) (*Reporter, error) {
	if run.Records > 0 {
		return nil, nil
	}
	r, err := NewReporter(ctx, run, want)
	if err != nil || r.Published != nil {
		return nil, err
	}
	return r, nil
}

// Found returns the result of the run.
func (r *Reporter) Found(run store.Run) Found {
	return Found{Run: run, Report: r.report(), Published: r.Published}
}

// report returns the report of all records, without those that still wait for another.
func (r *Reporter) report() report.Report {
	for _, rec := range r.early {
		r.Builder.AddLate(rec)
	}
	clear(r.early)
	return r.Builder.Report()
}

// End sets the state of the run at its end, or its progress.
func (r *Reporter) End(run store.Run) {
	r.Builder.Head.Complete, r.Builder.Head.Ended, r.Builder.Head.Overspent = run.State == store.Done, run.Updated, overspent(run)
}

// Of reads the records of a run from the store and returns its result.
func Of(ctx context.Context, st store.Store, run store.Run, want Options) (Found, error) {
	r, err := NewReporter(ctx, run, want)
	if err != nil {
		return Found{}, err
	}
	records := st.Records(ctx, run.ID, store.Query{WithCalls: true, Brief: r.other == nil && r.Published == nil})
	for rec, err := range store.Ahead(records) {
		if err != nil {
			return Found{}, err
		}
		r.Add(rec)
	}
	return r.Found(run).WithParts(ctx, st)
}

// withPublished adds the benchmark's own numbers to the report.
func (f Found) withPublished() (Found, error) {
	if f.Published == nil {
		return f, nil
	}
	var text strings.Builder
	if err := f.Published.Text(&text); err != nil {
		return Found{}, err
	}
	f.Report.Published, f.Report.PublishedText = f.Published.JSON(), text.String()
	return f, nil
}

// WithParts adds the benchmark's own numbers, and the results of the parts of the judge over
// the first trial.
func (f Found) WithParts(ctx context.Context, st store.Store) (Found, error) {
	f, err := f.withPublished()
	if err == nil {
		f, err = f.noteFloors(ctx, st)
	}
	if err == nil {
		f, err = f.withLost(ctx, st)
	}
	if err != nil {
		return Found{}, err
	}
	spec := Grader(SpecOf(f.Run))
	if !spec.Composed() || spec.Kind == judge.KindPairwise {
		return f, nil
	}
	members := NewPanel(PartNames(spec), spec.Rule, spec.Kind == judge.KindRepeat)
	stages := Cascade{Promise: SettingsOf(f.Run.Spec).Promise}
	for _, s := range spec.Members {
		stages.Stages = append(stages.Stages, Stage{Name: s.Name, Threshold: s.Threshold, Models: s.Judge.Models()})
	}
	for rec, err := range st.Records(ctx, f.Run.ID, store.Query{Trial: new(int), Brief: true, WithCalls: true}) {
		if err != nil {
			return Found{}, err
		}
		if spec.Kind == judge.KindCascade {
			stage := 0
			if rec.Verdict != nil {
				stage = int(rec.Verdict.Aspects[cascade.StageAspect])
			}
			stages.Add(stage, rec.Calls)
		} else if votes, ok := panel.Votes(members.names, rec); ok {
			outcome := panel.VoteNone
			if rec.Verdict != nil {
				outcome = panel.VoteNo
				if rec.Verdict.Yes() {
					outcome = panel.VoteYes
				}
			}
			members.Add(rec.Item, votes, outcome)
		}
	}
	if spec.Kind == judge.KindCascade {
		stages.Finish()
		f.Report.Members = stages
		return f, nil
	}
	p := members.Panel()
	if kept, ok := st.(store.Labels); ok {
		people, err := Kept(ctx, kept, store.LabelQuery{})
		if err != nil {
			return Found{}, err
		}
		if p.Votes, err = PanelVotes(ctx, st, f.Run, people); err != nil {
			return Found{}, err
		}
	}
	f.Report.Members = p
	return f, nil
}

// Benchmark returns the benchmark of a run and its settings; nil if the run is of a file of
// items.
func Benchmark(run store.Run) (*benchmark.Benchmark, Settings, error) {
	var set Settings
	if len(run.Settings) > 0 {
		if err := json.Unmarshal(run.Settings, &set); err != nil {
			return nil, set, fmt.Errorf("settings of run %s: %w", run.ID, err)
		}
	}
	if set.Benchmark == "" {
		return nil, set, nil
	}
	b, ok := benchmark.All().Named(set.Benchmark)
	if !ok {
		return nil, set, fmt.Errorf("run %s is of the benchmark %s, which this deem does not know", run.ID, set.Benchmark)
	}
	return &b, set, nil
}

// Protocol returns the protocol of a run; nil for a rule or a composite judge.
func Protocol(run store.Run) (judge.Readable, error) {
	s, err := judge.ParseSpec(run.Judge.Identity)
	if err != nil || run.Judge.Rule || s.Composed() || s.Kind == judge.KindRecorded {
		return nil, err
	}
	return benchmark.Protocol(s)
}

// LastReply returns the reply that determined the verdict.
func LastReply(rec deem.Record) (deem.Reply, bool) {
	for i := len(rec.Calls) - 1; i >= 0; i-- {
		if rec.Calls[i].Reply != nil {
			return *rec.Calls[i].Reply, true
		}
	}
	return deem.Reply{}, false
}

// Reread returns the result of a reading for the replies in a record, and whether the
// record has all replies that it needs.
func Reread(p judge.Readable, rec deem.Record) (*deem.Verdict, *deem.Failure, bool) {
	v, ok, err := judge.Again(p, rec)
	if err == nil {
		return &v, nil, ok
	}
	f, failed := errors.AsType[*deem.Failure](err)
	if !failed {
		f = deem.Failf(deem.Unparseable, "%v", err)
	}
	return nil, f, ok
}

// CalibrationError returns the error of the probabilities that the judge of a run gives for
// items that it does not decide, 0 if it gives none.
func CalibrationError(run store.Run) float64 {
	return SpecOf(run).CalibrationError()
}
