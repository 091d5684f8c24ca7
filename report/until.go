package report

import (
	"fmt"
	"math"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
	"deem/stat"
)

// Until is the stopping rule of a run. The items of such a run come in random order, and
// records must be added in that order. The interval of the headline then holds at every
// look ([sequence]), and records after the look at which the rule holds are not
// counted.
type Until struct {
	Rule string `json:"rule"` // as printed: "±2 pp" or "better than RUN"
	Seed uint64 `json:"seed"` // of the random order

	// Within stops the run if both ends of the interval are within this distance of the
	// score.
	Within float64 `json:"within,omitempty"`

	// Against is the run that this one is compared with, item by item. The run stops once
	// it is known to be better or worse. It is "" without a comparison.
	Against string `json:"against,omitempty"`

	// Aim is the distance that the bets for the score aim at. It is fixed when the run
	// begins: bets that change with the results would not be fair. 0 means several at once.
	Aim float64 `json:"aim,omitempty"`

	// Largest is the largest weight of a unit, which is a cluster or an item without one. It is
	// at least 1.
	Largest float64 `json:"largest"`

	// Base are the results of the run Against, by item position; null is unjudged. They are
	// pass marks if Passes is set, and scores otherwise.
	Base   []*float64 `json:"-"`
	Passes bool       `json:"-"`
}

// severalAims are the aims of the bets if the rule does not set one.
var severalAims = []float64{0.02, 0.04, 0.08, 0.16}

// Stopped is the result of the stopping rule of a run.
type Stopped struct {
	Until
	Holds bool `json:"holds"` // the rule holds, and the run took no more items
	Items int  `json:"items"` // the number of items looked at
	Late  int  `json:"late"`  // records of further items that were being judged at that time and are not counted

	// Difference is this run minus the other, over the same items, with an interval that
	// also holds at every look. It is null without another run.
	Difference *stat.Estimate `json:"difference"`
}

// looks evaluates the rule after every unit: an item or a whole cluster.
type looks struct {
	until Until

	// Confidence sequences, with the sums of the incomplete unit. The difference is unused
	// without another run.
	pass, score, difference track

	open   string // the cluster of the incomplete unit
	weight float64
	units  int
	items  int

	holds bool
	late  int
}

// A track is a sequence with the sums of the incomplete unit, with unjudged items at their
// lowest and at their highest.
type track struct {
	*sequence
	sum Band
}

// add adds an item whose value is between lo and hi.
func (t *track) add(lo, hi, weight float64) {
	t.sum.Lo += lo * weight
	t.sum.Hi += hi * weight
}

// newLooks returns the looks for a rule.
func newLooks(u Until) *looks {
	if !(u.Largest > 0) {
		u.Largest = 1
	}
	aims := severalAims
	if u.Aim > 0 {
		aims = []float64{u.Aim}
	}
	l := &looks{until: u}
	l.pass.sequence = newSequence(stat.DefaultLevel, aims...)
	l.score.sequence = newSequence(stat.DefaultLevel, aims...)
	if u.Base != nil {
		// A difference from -1 to 1 is scaled to 0 to 1.
		var halves []float64
		for _, aim := range severalAims {
			halves = append(halves, aim/2)
		}
		l.difference.sequence = newSequence(stat.DefaultLevel, halves...)
	}
	return l
}

// add adds an item to the incomplete unit.
func (l *looks) add(position int, it deem.Item, v *deem.Verdict, weight float64) {
	l.open = it.Cluster
	l.items++
	l.weight += weight
	score, pass := Band{0, 1}, Band{0, 1}
	if v != nil {
		score = Band{v.Score, v.Score}
		if v.Pass != nil {
			pass = Band{}
			if *v.Pass {
				pass = Band{1, 1}
			}
		}
	}
	l.score.add(score.Lo, score.Hi, weight)
	l.pass.add(pass.Lo, pass.Hi, weight)
	if l.difference.sequence == nil {
		return
	}
	own, other := score, Band{0, 1}
	if l.until.Passes {
		own = pass
	}
	if position < len(l.until.Base) && l.until.Base[position] != nil {
		x := *l.until.Base[position]
		other = Band{x, x}
	}
	l.difference.add((1+own.Lo-other.Hi)/2, (1+own.Hi-other.Lo)/2, weight)
}

// look completes the unit and evaluates the rule over all units so far. The value is that
// of the headline.
func (l *looks) look(metric string, value float64) {
	if l.weight == 0 {
		return
	}
	l.units++
	for _, t := range []*track{&l.pass, &l.score, &l.difference} {
		if t.sequence != nil {
			t.Add(t.sum.Lo/l.until.Largest, t.sum.Hi/l.until.Largest, l.weight/l.until.Largest)
		}
		t.sum = Band{}
	}
	l.open, l.weight = "", 0
	if u := l.until; u.Within > 0 {
		est := l.estimate(metric)
		l.holds = math.Max(est.Hi-value, value-est.Lo) <= u.Within+1e-12
	} else if d := l.gap(); d != nil {
		l.holds = d.LeavesOut(0)
	}
}

func (l *looks) estimate(metric string) stat.Estimate {
	if metric == doc.PassRate {
		return l.pass.Estimate()
	}
	return l.score.Estimate()
}

// gap returns the difference from the other run, or nil.
func (l *looks) gap() *stat.Estimate {
	if l.difference.sequence == nil {
		return nil
	}
	d := l.difference.Estimate()
	d.Value, d.Lo, d.Hi, d.N = 2*d.Value-1, 2*d.Lo-1, 2*d.Hi-1, l.items
	return &d
}

// over returns est with the interval that holds at every look. It widens the interval to
// include the value, because only the value includes the items of an incomplete cluster.
func (l *looks) over(metric string, est stat.Estimate) stat.Estimate {
	at := l.estimate(metric)
	at.Value, at.N = est.Value, est.N
	at.Lo, at.Hi = math.Min(at.Lo, at.Value), math.Max(at.Hi, at.Value)
	if l.units < l.items {
		at.Clusters = l.units
	}
	if at.N < fewItems {
		at = at.Warn(warnFew)
	}
	return at
}

// Stopped reports whether the stopping rule holds, so that no more items are needed. It is
// false without a rule.
func (b *Builder) Stopped() bool { return b.looks != nil && b.looks.holds }

// AddLate adds a record that is not counted, because it was judged after the rule held or
// out of order. Its calls count, because they were paid for.
func (b *Builder) AddLate(rec deem.Record) {
	for i := range rec.Calls {
		b.calls.add(&rec.Calls[i])
	}
	if b.looks != nil && rec.Trial == 0 {
		b.looks.late++
	}
}

// look looks at the units so far.
func (b *Builder) look() {
	metric := b.main.metrics()[0]
	values := b.main.values(metric)
	b.looks.look(metric, values.Mean())
}

// stopped returns the result of the rule, and replaces the intervals in the figures by
// those that hold at every look.
func (b *Builder) stopped(metrics []Figures) *Stopped {
	l := b.looks
	if l == nil {
		return nil
	}
	for i := range metrics {
		f := &metrics[i]
		f.Strict = l.over(f.Metric, f.Strict)
		if f.Judged != nil {
			est := l.over(f.Metric, *f.Judged)
			f.Judged = &est
		}
	}
	return &Stopped{Until: l.until, Holds: l.holds, Items: l.items, Late: l.late, Difference: l.gap()}
}

// Words describes the result of the rule in one sentence, without a full stop.
func (s *Stopped) words(of int) string {
	rule := words.Clean(s.Rule)
	if d := s.Difference; d != nil && s.Holds && d.Hi < 0 {
		rule += ", which it is not: it is worse,"
	}
	after := words.Comma(s.Items)
	if of > 0 {
		after += " of " + words.Count(of, "item")
	}
	text := fmt.Sprintf("stopped by rule %s after %s", rule, after)
	if !s.Holds {
		text = fmt.Sprintf("the rule %s does not hold after %s", rule, after)
	}
	if d := s.Difference; d != nil {
		text += fmt.Sprintf("; this run minus %s: %+.1f pp [%+.1f, %+.1f]", words.Clean(s.Against), 100*d.Value, 100*d.Lo, 100*d.Hi)
	}
	return fmt.Sprintf("%s; items in random order, seed %d", text, s.Seed)
}
