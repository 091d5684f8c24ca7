package reports

import (
	"context"
	"errors"

	"deem"
	"deem/report"
)

// unasked is the kind of failure of an item for which no verdict was requested. A judge that
// would have to call a model, and may not, returns it too.
const unasked deem.Kind = "unasked"

// An ErrataBuilder takes the records of a run and compares its numbers with those that account for
// the errata. Each of these comes from a separate report over modified records, so that all
// have the same kind of interval. An ErrataBuilder is not safe for concurrent use.
type ErrataBuilder struct {
	matched *Matched
	judge   deem.Judge // nil if nothing can be judged again

	published, sound, faulty, corrected, ceiling *report.Builder

	kinds map[string]int
	again ErrataRejudged
	met   acceptedErrata
}

// acceptedErrata counts items with a wrong reference that were judged right.
type acceptedErrata struct {
	n   int
	ids []string // the first few
}

// maxExamples is the maximum number of ids in a report.
const maxExamples = 10

// NewErrata returns a builder with the head of the run's own report. The judge grades items with
// corrected references. It must be the judge of the run and must cost nothing; it returns a
// failure of kind "unasked" if it would have to call a model. It is nil if the run's judge is
// not available.
func NewErrata(m *Matched, h report.Head, judge deem.Judge) *ErrataBuilder {
	h.Trials, h.UpstreamName = 1, ""
	all := h
	h.Items = 0 // A subset of the items is not an unfinished run.
	return &ErrataBuilder{
		matched: m, judge: judge, kinds: map[string]int{},
		published: report.New(all), ceiling: report.New(all),
		sound: report.New(h), faulty: report.New(h), corrected: report.New(h),
	}
}

// Add adds a record of the run. If an item was judged several times, only the first trial
// counts. An error comes from the judge or from ctx.
func (b *ErrataBuilder) Add(ctx context.Context, rec deem.Record) error {
	if rec.Trial != 0 {
		return nil
	}
	calls := rec.Calls
	rec.Calls = nil
	b.published.Add(rec)
	x, faulty := b.matched.Of(rec.Item)
	b.ceiling.Add(perfectRecord(rec, faulty))
	if !faulty {
		b.sound.Add(rec)
		b.corrected.Add(rec)
		return nil
	}
	b.kinds[x.Kind]++
	b.faulty.Add(rec)
	b.met.add(rec)
	return b.rejudge(ctx, rec, calls)
}

// perfectRecord returns the record of a system that answers everything right.
func perfectRecord(rec deem.Record, faulty bool) deem.Record {
	v := deem.Verdict{Label: "right", Score: 1}
	if faulty {
		v = deem.Verdict{Label: "wrong"}
	}
	if rec.Verdict != nil && rec.Verdict.Pass != nil {
		pass := !faulty
		v.Pass = &pass
	}
	rec.Verdict, rec.Failure = &v, nil
	return rec
}

// add counts the item if it has a wrong reference and was judged right.
func (a *acceptedErrata) add(rec deem.Record) {
	if rec.Verdict == nil || !rec.Verdict.Yes() {
		return
	}
	a.n++
	if len(a.ids) < maxExamples {
		a.ids = append(a.ids, rec.Item.ID)
	}
}

// rejudge adds the verdict with corrected references. An item without a known correct
// answer cannot be judged and is left out.
func (b *ErrataBuilder) rejudge(ctx context.Context, rec deem.Record, calls []deem.Call) error {
	it, ok := b.matched.Correct(rec.Item)
	if !ok {
		b.again.NoReference++
		return nil
	}
	b.again.Items++
	v, failure, err := b.ask(ctx, it)
	if err != nil {
		return err
	}
	before := rec.Verdict
	rec.Item, rec.Verdict, rec.Failure = it, v, failure
	b.corrected.Add(rec)
	switch {
	case failure == nil:
		b.again.count(before, *v)
	case failure.Kind == unasked:
		b.again.Unasked++
		b.again.costs(calls)
	default:
		b.again.Unjudged++
	}
	return nil
}

func (b *ErrataBuilder) ask(ctx context.Context, it deem.Item) (*deem.Verdict, *deem.Failure, error) {
	if b.judge == nil {
		return nil, deem.Failf(unasked, "the judge of the run is not available"), nil
	}
	v, err := b.judge.Judge(ctx, it)
	if err == nil {
		return &v, nil, nil
	}
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return nil, f, nil
	}
	return nil, nil, err
}

// count compares a verdict with the one for the wrong reference, if there was one.
func (r *ErrataRejudged) count(before *deem.Verdict, after deem.Verdict) {
	r.Judged++
	switch {
	case before == nil:
	case after.Score > before.Score:
		r.Better++
	case after.Score < before.Score:
		r.Worse++
	}
}

// costs adds the original cost of the calls for an item.
func (r *ErrataRejudged) costs(calls []deem.Call) {
	for _, c := range calls {
		if c.Reply != nil {
			r.CostMicros += c.Reply.CostMicros
			r.Unpriced = r.Unpriced || c.Reply.Unpriced || c.Reply.Cached
		}
	}
}
