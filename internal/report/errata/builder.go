package errata

import (
	"context"
	"errors"

	"deem"
	"deem/report"
)

// ErrUnasked is the error of a judge that would have to ask a model about an item and
// may not.
var ErrUnasked = errors.New("the model was never asked about this item")

// unasked is the failure in the place of a verdict that nobody has asked for.
const unasked deem.Kind = "unasked"

// A Builder takes the records of a run and sets its numbers beside those that the
// errata make of them. Each of these is a report of its own over other records, so that
// all have intervals of the same kind. A Builder is not safe for use by several
// goroutines at once.
type Builder struct {
	matched *Matched
	judge   deem.Judge // nil when nothing can be judged again

	published, sound, faulty, corrected, ceiling *report.Builder

	kinds map[string]int
	again Rejudged
	met   accepted
}

// accepted remembers items with a wrong reference that were taken for right.
type accepted struct {
	n   int
	ids []string // the first few
}

// maxExamples is how many ids a report names.
const maxExamples = 10

// New returns a builder under the head of the run's own report. The judge is asked
// about items with corrected references. It must be the one of the run, and must cost
// nothing; where it cannot know, its error is [ErrUnasked]. It is nil when the run's
// judge is not available.
func New(m *Matched, h report.Head, judge deem.Judge) *Builder {
	h.Trials, h.UpstreamName = 1, ""
	all := h
	h.Items = 0 // A part of the items is not a run that was left unfinished.
	return &Builder{
		matched: m, judge: judge, kinds: map[string]int{},
		published: report.New(all), ceiling: report.New(all),
		sound: report.New(h), faulty: report.New(h), corrected: report.New(h),
	}
}

// Add adds a record of the run. Of an item that was judged several times, the first
// trial counts. An error is one of the judge, or of ctx.
func (b *Builder) Add(ctx context.Context, rec deem.Record) error {
	if rec.Trial != 0 {
		return nil
	}
	calls := rec.Calls
	rec.Calls = nil
	b.published.Add(rec)
	x, faulty := b.matched.Of(rec.Item)
	b.ceiling.Add(perfect(rec, faulty))
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

// perfect returns the record that a system would have which answers everything rightly.
func perfect(rec deem.Record, faulty bool) deem.Record {
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

// add looks whether an item with a wrong reference was taken for right.
func (a *accepted) add(rec deem.Record) {
	if rec.Verdict == nil || !rec.Verdict.Yes() {
		return
	}
	a.n++
	if len(a.ids) < maxExamples {
		a.ids = append(a.ids, rec.Item.ID)
	}
}

// rejudge adds what the judge says with the references corrected. An item for which
// nobody knows what is right cannot be judged, and is left out.
func (b *Builder) rejudge(ctx context.Context, rec deem.Record, calls []deem.Call) error {
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

// ask asks the judge about an item.
func (b *Builder) ask(ctx context.Context, it deem.Item) (*deem.Verdict, *deem.Failure, error) {
	if b.judge == nil {
		return nil, deem.Failf(unasked, "the judge of the run is not available"), nil
	}
	v, err := b.judge.Judge(ctx, it)
	if err == nil {
		return &v, nil, nil
	}
	if errors.Is(err, ErrUnasked) {
		return nil, deem.Failf(unasked, "%v", err), nil
	}
	if f, ok := errors.AsType[*deem.Failure](err); ok {
		return nil, f, nil
	}
	return nil, nil, err
}

// count counts a verdict beside the one with the wrong reference, if there was one.
func (r *Rejudged) count(before *deem.Verdict, after deem.Verdict) {
	r.Judged++
	switch {
	case before == nil:
	case after.Score > before.Score:
		r.Better++
	case after.Score < before.Score:
		r.Worse++
	}
}

// costs adds what the calls about an item cost the first time.
func (r *Rejudged) costs(calls []deem.Call) {
	for _, c := range calls {
		if c.Reply != nil {
			r.CostMicros += c.Reply.CostMicros
			r.Unpriced = r.Unpriced || c.Reply.Unpriced || c.Reply.Cached
		}
	}
}
