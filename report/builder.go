package report

import (
	"iter"
	"math"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/judge"
	"deem/stat"
)

// The number of ids that a report lists.
const (
	failureExamples = 3
	readingExamples = 10
)

// noVerdict is the kind of a record with neither a verdict nor a failure. It occurs only in
// damaged files.
const noVerdict deem.Kind = "no_verdict"

// A Builder collects records for a report. Its memory depends on the number of distinct
// categories, labels, aspects, trials and models, and on the number of clusters per
// category up to a limit, but not on the number of records. If items are judged several
// times, [Head.Trials] must be set: every number then uses the mean of an item over its
// trials, and an item is buffered until all its trials are added. A Builder is not safe for
// concurrent use.
type Builder struct {
	// Head is the head of the report. A report on a stream of records knows only at the end
	// whether the run is complete and when it ended: set these two before [Builder.Report].
	// The other fields must not change.
	Head Head

	records int

	// The totals over items with all their trials.
	main       *tally
	categories map[string]*tally
	aspects    map[string]*aspect
	noise      repeatSums
	inClusters int
	badAspects int

	items    gather
	single   gather         // of one trial
	trials   map[int]*tally // by trial, if there are several
	readings map[string]*reread

	failures  map[deem.Kind]*doc.Firsts
	undecided doc.Firsts
	labels    map[string]int
	judges    map[string]int // records
	calls     ledger
	spent     doc.Meter
	ranked    *doc.RetrievalBuilder
	sureness  sureness
	looks     *looks // nil without a stopping rule

	badScores, badWeights, bothSet int
}

// An aspect collects one aspect of many verdicts.
type aspect struct {
	values   stat.Moments
	min, max float64
	seen     bool
}

// A reread collects the results of another reading.
type reread struct {
	tally
	differ doc.Firsts
	items  gather
}

func (r *reread) add(it *gathered, limit int) {
	r.tally.add(it.outcome(limit))
	if it.differs {
		r.differ.Add(it.place, it.id, readingExamples)
	}
}

// Of returns a builder for a report on the verdicts of j.
func Of(j deem.Judge) *Builder {
	s := judge.SpecOf(j)
	h := Head{Judge: j.Name(), JudgeKind: judge.KindModel, Reading: s.Reading, Model: strings.Join(s.Models(), " + "), CalibrationError: s.CalibrationError()}
	if !s.Asks() {
		h.JudgeKind = judge.KindRule
	}
	h.JudgeHash, _ = deem.JudgeHash(j) // an unusual identity may have none
	return New(h)
}

// Collect adds all records, for example those of [deem.Run], and returns the report of a
// run that is complete. After an error, the report has the records before it.
func (b *Builder) Collect(records iter.Seq2[deem.Record, error]) (Report, error) {
	for rec, err := range records {
		if err != nil {
			return b.Report(), err
		}
		b.Add(rec)
	}
	b.Head.Complete = true
	return b.Report(), nil
}

// New returns a builder for a report with the given head. Invalid values in the head are
// replaced and defaults filled in.
func New(h Head) *Builder {
	limit := DefaultMaxUnjudged
	if h.MaxUnjudged != nil {
		limit = min(max(*h.MaxUnjudged, 0), 1)
		if math.IsNaN(limit) {
			limit = 0
		}
	}
	h.MaxUnjudged = &limit
	if !(h.CalibrationError > 0 && h.CalibrationError <= 1) {
		h.CalibrationError = 0
	}
	if h.Bootstrap != nil {
		set := *h.Bootstrap
		if set.Draws <= 0 {
			set.Draws = stat.DefaultDraws
		}
		h.Bootstrap = &set
	}
	if h.JudgeKind == "rule" && h.JudgeNote == "" {
		h.JudgeNote = h.Judge + " is a rule, not a model"
	}
	// Reports are compared byte by byte between machines in different time zones.
	h.Started, h.Ended = h.Started.UTC(), h.Ended.UTC()
	b := &Builder{
		Head:       h,
		main:       &tally{},
		categories: map[string]*tally{},
		aspects:    map[string]*aspect{},
		items:      gather{want: h.Trials},
		trials:     map[int]*tally{},
		readings:   map[string]*reread{},
		failures:   map[deem.Kind]*doc.Firsts{},
		labels:     map[string]int{},
		judges:     map[string]int{},
		calls:      ledger{models: map[Model]int{}, wires: map[wired]int{}},
		ranked:     doc.NewRetrieval(),
	}
	if h.Until != nil {
		b.looks = newLooks(*h.Until)
	}
	return b
}

// Add adds one record, of which it retains only a few names. With [Head.Until], records
// must be added in the order of their positions, and records after the rule holds are not
// counted. Add reports whether the record was counted.
func (b *Builder) Add(rec deem.Record) (counted bool) {
	if l := b.looks; l != nil {
		if l.weight > 0 && (rec.Item.Cluster == "" || rec.Item.Cluster != l.open) { // the unit before is complete
			b.look()
		}
		if l.holds {
			b.AddLate(rec)
			return false
		}
	}
	b.records++
	for i := range rec.Calls {
		b.calls.add(&rec.Calls[i])
	}
	count(b.judges, rec.Judge)
	weight, ok := doc.WeightOf(rec.Item)
	if !ok {
		b.badWeights++
	}
	v, kind := b.outcome(rec)
	var guess *float64 // the probability that counts in place of a verdict
	if f := rec.Failure; b.Head.CalibrationError > 0 && f != nil && rec.Verdict == nil && f.Probability != nil && usableScore(*f.Probability) {
		guess = f.Probability
	}
	if rec.Trial != 0 || b.Head.Trials > 1 {
		it := b.single.add(&rec, v, guess, weight, false)
		doc.Entry(b.trials, rec.Trial).add(it.outcome(b.Head.maxAlone()))
		b.single.release(it)
	}
	if rec.Trial != 0 && b.Head.Trials < 2 {
		// The number of trials is unknown, so items cannot wait for them.
		return true
	}
	if rec.Trial == 0 {
		b.spent.Add(doc.TookBy(rec.Item))
		if l, ok := doc.RankedBy(rec.Item); ok {
			b.ranked.Add(l)
		}
	}
	switch {
	case v != nil:
		b.sureness.add(v)
		count(b.labels, v.Label)
	case guess != nil:
		b.undecided.Add(rec.Position, rec.Item.ID, failureExamples)
	default:
		doc.Entry(b.failures, kind).Add(rec.Position, rec.Item.ID, failureExamples)
	}
	if it := b.items.add(&rec, v, guess, weight, false); it != nil {
		b.addItem(it)
		b.items.release(it)
	}
	if b.looks != nil { // requires a single trial
		b.looks.add(rec.Position, rec.Item, v, weight)
		if rec.Item.Cluster == "" || b.main.items == b.Head.Items {
			b.look()
		}
	}
	return true
}

// addItem adds an item with all its trials.
func (b *Builder) addItem(it *gathered) {
	o := it.outcome(b.Head.maxAlone())
	b.main.add(o)
	doc.Entry(b.categories, it.category).add(o)
	if o.member.named {
		b.inClusters++
	}
	if o.failed == 1 || o.undecided {
		return
	}
	b.addAspects(it)
	if it.seen < 2 {
		return
	}
	b.noise.failed += it.seen - len(it.votes)
	b.noise.score.add(it, b.Head.maxAlone(), func(v vote) float64 { return v.score })
	if o.marked {
		b.noise.pass.add(it, b.Head.maxAlone(), func(v vote) float64 { return v.pass })
	}
}

// settled returns a builder that includes the items still waiting for a trial: b itself if
// there are none, and otherwise a copy.
func (b *Builder) settled() *Builder {
	waits := len(b.items.pending) > 0
	for _, r := range b.readings {
		waits = waits || len(r.items.pending) > 0
	}
	if !waits {
		return b
	}
	out := *b
	out.main = b.main.clone()
	out.noise.score, out.noise.pass = b.noise.score.clone(), b.noise.pass.clone()
	out.categories, out.aspects = map[string]*tally{}, map[string]*aspect{}
	for name, t := range b.categories {
		out.categories[name] = t.clone()
	}
	for name, a := range b.aspects {
		out.aspects[name] = new(*a)
	}
	for _, it := range b.items.pending {
		out.addItem(it)
	}
	out.readings = map[string]*reread{}
	for name, r := range b.readings {
		of := &reread{tally: *r.tally.clone(), differ: r.differ.Clone()}
		for _, it := range r.items.pending {
			of.add(it, b.Head.maxAlone())
		}
		out.readings[name] = of
	}
	return &out
}

// outcome returns the verdict of rec, or nil and the kind of failure. An invalid score
// makes the item unjudged, and a note says so.
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

// addAspects adds the aspects of an item, each as the mean over the trials that have it.
func (b *Builder) addAspects(it *gathered) {
	var means map[string]stat.Moments
	for _, v := range it.votes {
		for name, x := range v.aspects {
			if !(x >= -1e100 && x <= 1e100) { // also NaN
				b.badAspects++
				continue
			}
			a := doc.Entry(b.aspects, name)
			if !a.seen {
				a.min, a.max, a.seen = x, x, true
			}
			a.min, a.max = min(a.min, x), max(a.max, x)
			if len(it.votes) == 1 {
				a.values.Add(x, it.weight)
				continue
			}
			if means == nil {
				means = map[string]stat.Moments{}
			}
			m := means[name]
			m.Add(x, 1)
			means[name] = m
		}
	}
	for name, m := range means {
		b.aspects[name].values.Add(m.Mean(), it.weight)
	}
}

// AddReread adds the result of the named reading for the reply in rec: a verdict or a
// failure.
func (b *Builder) AddReread(reading string, rec deem.Record, v *deem.Verdict, f *deem.Failure) {
	if rec.Trial != 0 && b.Head.Trials < 2 {
		return
	}
	if f != nil || (v != nil && !usableScore(v.Score)) {
		v = nil
	}
	was := rec.Verdict
	if rec.Failure != nil || (was != nil && !usableScore(was.Score)) {
		was = nil
	}
	weight, _ := doc.WeightOf(rec.Item)
	r := doc.Entry(b.readings, reading)
	r.items.want = b.Head.Trials
	if it := r.items.add(&rec, v, nil, weight, differ(was, v)); it != nil {
		r.add(it, b.Head.maxAlone())
		r.items.release(it)
	}
}

// differ reports whether two readings decide differently. Two failures do not differ,
// whatever their kinds, because the item is unjudged in both readings.
func differ(a, b *deem.Verdict) bool {
	if a == nil || b == nil {
		return a != b
	}
	if (a.Pass == nil) != (b.Pass == nil) || (a.Pass != nil && *a.Pass != *b.Pass) {
		return true
	}
	return a.Label != b.Label || a.Score != b.Score
}

func count(m map[string]int, name string) {
	if _, ok := m[name]; !ok {
		name = strings.Clone(name) // It may be a substring of a long line.
	}
	m[name]++
}
