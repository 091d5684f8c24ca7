package report

import (
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
	"deem/report/spent"
	"deem/stat"
)

// How many ids a report names.
const (
	failureExamples = 3
	readingExamples = 10
)

// noVerdict is the kind of a record that holds neither a verdict nor a failure,
// which only a damaged file can bring.
const noVerdict deem.Kind = "no_verdict"

// A Builder gathers records into a report. Its memory grows with the number of
// distinct categories, labels, aspects, trials and models, and with the number of
// clusters in each category up to a limit, and not with the number of records. Where
// items are judged several times, [Head.Trials] must say how often, and an item is
// held until all its trials are there. A Builder is not safe for use by several
// goroutines at once.
type Builder struct {
	head    Head
	records int

	main       *tally // trial 0
	trials     map[int]*tally
	categories map[string]*tally
	failures   map[deem.Kind]*named
	labels     map[string]int
	aspects    map[string]*aspect
	readings   map[string]*reread
	judges     map[string]struct{}
	calls      ledger
	spent      spent.Meter
	repeats    repeats
	sureness   sureness
	inClusters int
	looks      *looks // nil without a rule to stop by

	badScores, badWeights, badAspects, bothSet int
}

// A named counts items and remembers the first few of them.
type named struct {
	n     int
	first firsts
}

// An aspect gathers one aspect of many verdicts.
type aspect struct {
	values   stat.Moments
	min, max float64
}

// A reread gathers what another reading gives.
type reread struct {
	tally
	differ named
}

// New returns a builder of a report under the given head.
func New(h Head) *Builder {
	main := &tally{}
	h = h.sane()
	b := &Builder{
		head:       h,
		main:       main,
		trials:     map[int]*tally{0: main},
		categories: map[string]*tally{},
		failures:   map[deem.Kind]*named{},
		labels:     map[string]int{},
		aspects:    map[string]*aspect{},
		readings:   map[string]*reread{},
		judges:     map[string]struct{}{},
		repeats:    repeats{want: h.Trials, limit: h.maxAlone(), pending: map[itemKey]*repeated{}},
	}
	if h.Until != nil {
		b.looks = newLooks(*h.Until)
	}
	return b
}

// End says how far the run is whose records were added, and when it was last at work.
// A report that is made of records as they come learns that only at the end.
func (b *Builder) End(complete bool, ended time.Time) {
	b.head.Complete, b.head.Ended = complete, ended
}

// Add adds one record. It keeps nothing of it but a few names. With [Head.Until], records
// come in the order of their positions, and those after the rule holds are not counted.
// Add reports whether the record was.
func (b *Builder) Add(rec deem.Record) (counted bool) {
	if b.looks != nil && !b.takes(rec) {
		b.AddLate(rec)
		return false
	}
	b.records++
	for i := range rec.Calls {
		b.calls.add(&rec.Calls[i])
	}
	enter(b.judges, rec.Judge)
	weight, ok := weightOf(rec.Item)
	if !ok {
		b.badWeights++
	}
	v, kind := b.outcome(rec)
	o := outcome{v: v, weight: weight, member: memberOf(rec.Item), limit: b.head.maxAlone()}
	entry(b.trials, rec.Trial).add(o)
	b.repeats.add(&rec, v, weight, o.member)
	if rec.Trial != 0 {
		// Trials of one item are no new items: only trial 0 makes the numbers.
		return true
	}
	b.spent.Add(rec.Item)
	entry(b.categories, doc.OrNone(rec.Item.Category)).add(o)
	if o.member.named {
		b.inClusters++
	}
	if b.looks != nil {
		b.looks.add(rec.Position, rec.Item, v, weight)
		if rec.Item.Cluster == "" || b.main.items == b.head.Items {
			b.look()
		}
	}
	if v == nil {
		entry(b.failures, kind).add(rec, failureExamples)
		return true
	}
	b.sureness.add(v)
	b.addLabel(v.Label)
	b.addAspects(v.Aspects, weight)
	return true
}

// outcome returns the verdict of rec, or nil and why there is none. A score that
// is no score is not counted as one: the item is unjudged, and a note says so.
func (b *Builder) outcome(rec deem.Record) (*deem.Verdict, deem.Kind) {
	switch {
	case rec.Failure != nil:
		if rec.Verdict != nil {
			b.bothSet++
		}
		return nil, rec.Failure.Kind
	case rec.Verdict == nil:
		return nil, noVerdict
	case !usableScore(rec.Verdict.Score):
		b.badScores++
		return nil, deem.OutOfRange
	}
	return rec.Verdict, ""
}

// addLabel counts the label.
func (b *Builder) addLabel(label string) {
	if _, ok := b.labels[label]; !ok {
		label = strings.Clone(label)
	}
	b.labels[label]++
}

// addAspects adds the aspects of one verdict.
func (b *Builder) addAspects(aspects map[string]float64, weight float64) {
	for name, x := range aspects {
		if !(x >= -1e100 && x <= 1e100) { // also NaN
			b.badAspects++
			continue
		}
		a := entry(b.aspects, name)
		if a.values.N() == 0 {
			a.min, a.max = x, x
		}
		a.min, a.max = min(a.min, x), max(a.max, x)
		a.values.Add(x, weight)
	}
}

// AddReread adds what the named reading of the reply in rec would have given: a
// verdict or a failure. Only trial 0 counts, as everywhere.
func (b *Builder) AddReread(reading string, rec deem.Record, v *deem.Verdict, f *deem.Failure) {
	if rec.Trial != 0 {
		return
	}
	if f != nil || (v != nil && !usableScore(v.Score)) {
		v = nil
	}
	was := rec.Verdict
	if rec.Failure != nil || (was != nil && !usableScore(was.Score)) {
		was = nil
	}
	weight, _ := weightOf(rec.Item)
	r := entry(b.readings, reading)
	r.add(outcome{v: v, weight: weight, member: memberOf(rec.Item), limit: b.head.maxAlone()})
	if differ(was, v) {
		r.differ.add(rec, readingExamples)
	}
}

// differ reports whether two readings decide differently. Two failures do not
// differ, whatever their kinds: the item is unjudged in either reading.
func differ(a, b *deem.Verdict) bool {
	if a == nil || b == nil {
		return a != b
	}
	if (a.Pass == nil) != (b.Pass == nil) || (a.Pass != nil && *a.Pass != *b.Pass) {
		return true
	}
	return a.Label != b.Label || a.Score != b.Score
}

// add counts rec and remembers it if it is among the first limit.
func (n *named) add(rec deem.Record, limit int) {
	n.n++
	n.first.add(rec.Position, rec.Item.ID, limit)
}

// A firsts holds the ids of the items with the smallest positions. Position
// decides and not arrival, so that the order of the records does not matter.
type firsts []place

type place struct {
	position int
	id       string
}

// add enters the item if it is among the first limit.
func (f *firsts) add(position int, id string, limit int) {
	p := place{position, id}
	at := len(*f)
	for at > 0 && p.before((*f)[at-1]) {
		at--
	}
	if at >= limit {
		return
	}
	// The id may be a piece of a long line, which must not be kept alive.
	p.id = strings.Clone(id)
	*f = append(*f, place{})
	copy((*f)[at+1:], (*f)[at:])
	(*f)[at] = p
	*f = (*f)[:min(len(*f), limit)]
}

// before reports whether p comes before q.
func (p place) before(q place) bool {
	if p.position != q.position {
		return p.position < q.position
	}
	return p.id < q.id
}

// ids returns the ids in order.
func (f firsts) ids() []string {
	ids := make([]string, len(f))
	for i, p := range f {
		ids[i] = p.id
	}
	return ids
}

// entry returns the value of a key, made when the key is new.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	v, ok := m[key]
	if !ok {
		v = new(V)
		m[key] = v
	}
	return v
}

// enter enters a name in a set.
func enter(set map[string]struct{}, name string) {
	if _, ok := set[name]; !ok {
		set[strings.Clone(name)] = struct{}{}
	}
}
