package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/doc"
	"deem/internal/store"
	"deem/internal/usage"
	"deem/report"
)

// ErrNoErrata is returned if the errata file of a run is missing. The run itself can still
// be shown.
var ErrNoErrata = errors.New("the errata are not there any more")

// ReadErrata reads a list of known errors in an answer key. A benchmark may write the ids
// of its items in several ways; nil means no benchmark.
func ReadErrata(ctx context.Context, file string, b *benchmark.Benchmark) (*ErrataList, error) {
	var o ErrataOptions
	if b != nil {
		o.ID = b.ItemID
	}
	e, err := OpenErrata(ctx, file, o)
	return e, usage.Mark(err)
}

// Errata returns the effect of known errors in the answer key on the numbers of a run. The
// errors come from file or, by default, from the run's settings. It returns nil if there
// are none, and [ErrNoErrata] if the file of the run is missing. again returns the judge of
// the run if it can be asked again without cost, or nil.
func Errata(ctx context.Context, st store.Store, run store.Run, h report.Head, file string, again func(store.Store, store.Run) (deem.Judge, error)) (*ErrataReport, error) {
	b, set, err := Benchmark(run)
	if err != nil {
		return nil, err
	}
	named := cmp.Or(file, set.Errata)
	if named == "" {
		return nil, nil
	}
	if _, err := os.Stat(named); file == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s was told of %s: %w", run.ID, named, ErrNoErrata)
	}
	e, err := ReadErrata(ctx, named, b)
	if err != nil {
		return nil, err
	}
	m, err := e.Match(judgedItems(ctx, st, run))
	if err != nil {
		return nil, err
	}
	j, err := again(st, run)
	if err != nil {
		return nil, err
	}
	builder := NewErrata(m, h, j)
	records := st.Records(ctx, run.ID, store.Query{Trial: new(int), WithCalls: true})
	for rec, err := range store.Ahead(records) {
		if err == nil {
			err = builder.Add(ctx, rec)
		}
		if err != nil {
			return nil, err
		}
	}
	r := builder.Report()
	return &r, nil
}

// judgedItems yields the items of a run that have a record.
func judgedItems(ctx context.Context, st store.Store, run store.Run) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		for rec, err := range store.Ahead(st.Records(ctx, run.ID, store.Query{Trial: new(int)})) {
			if !yield(rec.Item, err) {
				return
			}
		}
	}
}

// AddErrata adds the errata to the head of a report.
func AddErrata(r *report.Report, faults *ErrataReport) {
	if faults == nil || r.Head.Harness == nil {
		return
	}
	h := *r.Head.Harness
	h.Errata = &doc.ErrataFile{File: faults.File, Hash: faults.Hash, Faulty: faults.Overall.Faulty}
	r.Head.Harness = &h
}

// Gates checks the report of a run against gates: those given, and those promised when the
// run was locked.
func Gates(gates []Gate, run store.Run, r report.Report) ([]GateOutcome, error) {
	if l := SettingsOf(run.Spec).Lock; l != nil {
		locked, err := ParseGates(l.Gates)
		if err != nil {
			return nil, err
		}
		gates = slices.Clone(gates)
		for _, g := range locked {
			if !slices.ContainsFunc(gates, func(have Gate) bool { return have.Text == g.Text }) {
				gates = append(gates, g)
			}
		}
	}
	return HoldGates(gates, ReportScope(r))
}
