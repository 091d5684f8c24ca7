package longmemeval

import (
	"math"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
	"deem/judge"
)

// Metrics computes the published metrics from the records of a run. They do not depend on
// the order of the records. Only the first trial of an item counts.
type Metrics struct {
	types      map[string]*counts
	overall    counts
	abstention counts
	unjudged   []string
}

// counts contains the items of one line of the report.
type counts struct {
	benchmark.Tally

	// Upstream's counts for the same replies.
	upstreamYes, upstream int
}

// NewMetrics returns metrics without records.
func NewMetrics() *Metrics {
	m := &Metrics{types: map[string]*counts{}}
	for _, t := range types {
		m.types[t] = &counts{}
	}
	return m
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return // Trials of one item are not new items.
	}
	t, ok := m.types[rec.Item.Category]
	if !ok {
		t = &counts{}
		m.types[rec.Item.Category] = t
	}
	label, labelled := upstreamLabel(rec)
	lines := []*counts{t, &m.overall}
	if isAbstention(rec.Item.ID) {
		lines = append(lines, &m.abstention)
	}
	for _, t := range lines {
		t.Add(rec)
		if labelled {
			t.upstream++
		}
		if labelled && label {
			t.upstreamYes++
		}
	}
	if rec.Verdict == nil {
		m.unjudged = append(m.unjudged, rec.Item.ID)
	}
}

// upstreamLabel returns the label that evaluate_qa.py would give to the record, and reports
// whether it would give one. If the record has a reply, it is read as upstream does,
// whatever the reading of the run; otherwise the verdict is used. A verdict between right
// and wrong has no label.
func upstreamLabel(rec deem.Record) (label, ok bool) {
	if reply := onlyReply(rec); reply != nil && rec.Judge == Name {
		v, err := judge.Read(&QA{reading: Upstream}, rec.Item, *reply)
		return v.Label == yes, err == nil
	}
	if v := rec.Verdict; v != nil && (v.Score == 0 || v.Score == 1) {
		return v.Score == 1, true
	}
	return false, false
}

// onlyReply returns the reply in a record if there is exactly one. With several, the judge
// is more than this protocol.
func onlyReply(rec deem.Record) *deem.Reply {
	var found *deem.Reply
	for _, c := range rec.Calls {
		if c.Reply == nil {
			continue
		}
		if found != nil {
			return nil
		}
		found = c.Reply
	}
	return found
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return slices.Sorted(slices.Values(m.unjudged)) }

// A Line is one published metric over judged items, with its confidence interval.
type Line struct {
	Name  string `json:"name"`
	Right int    `json:"right"` // items with score 1

	// N and Unjudged count the items with and without a verdict, and Estimate is the
	// value with its interval: nil where upstream prints nan.
	benchmark.Line

	// Band is the value if all unjudged items were wrong, and if all were right. It is
	// nil if there are no items.
	Band *Band `json:"band"`
}

// A Band ranges from all unjudged items wrong to all right.
type Band struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// MethodLinear is the method of the interval of the task-averaged accuracy, which is a
// linear function of proportions; see [Metrics.TaskAveraged].
const MethodLinear = "price-bonett"

// Types returns the accuracy of each type: upstream's six in upstream's order, and any
// others by name. Upstream accepts other types only for unanswerable questions, and its
// second script crashes on them.
func (m *Metrics) Types() []Line {
	lines := make([]Line, 0, len(m.types))
	for _, name := range types {
		lines = append(lines, m.types[name].line(name))
	}
	for _, name := range m.others() {
		lines = append(lines, m.types[name].line(name))
	}
	return lines
}

// others returns the types that upstream does not define, sorted.
func (m *Metrics) others() []string {
	var names []string
	for name := range m.types {
		if !slices.Contains(types, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Overall returns the accuracy over all items.
func (m *Metrics) Overall() Line { return m.overall.line("overall") }

// abstention is the name of the line over the unanswerable questions.
const abstention = "abstention"

// Abstention returns the accuracy over the unanswerable questions, which also count in
// their types.
func (m *Metrics) Abstention() Line { return m.abstention.line(abstention) }

func (t *counts) line(name string) Line {
	l := Line{Name: name, Right: t.Right(), Line: t.Line(false)}
	if all := float64(t.All()); all > 0 {
		sum := t.Mean() * float64(l.N)
		l.Band = &Band{sum / all, math.Min((sum+float64(l.Unjudged))/all, 1)}
	}
	return l
}

// TaskAveraged returns the mean of the accuracies of upstream's six types, in which a type
// with 30 questions has the same weight as one with 133. It is undefined if a type has no
// judged item; upstream then prints nan.
//
// The types are independent samples, so the variance of the mean is the sum of theirs over
// 36 (the delta method for a linear function). Estimated by p(1-p)/n it would be 0 for a
// type that is all right, and too small for a small one. Therefore four items, two of them
// right, are spread over the types first (Price and Bonett, "An improved confidence
// interval for a linear function of binomial proportions", Computational Statistics & Data
// Analysis 45, 2004, 449-456). In simulated runs, from two items per type up to the
// published 500, it contained the true value in 92 to 98% of all cases. Graded scores vary
// less than p(1-p), so for them the interval is wider than necessary.
func (m *Metrics) TaskAveraged() Line {
	l := Line{Name: "task-averaged", Band: &Band{}}
	l.Estimate = &benchmark.Estimate{Level: benchmark.Level, Method: MethodLinear}
	sum, centre, variance := 0.0, 0.0, 0.0
	k := float64(len(types))
	for _, name := range types {
		t := m.types[name].line(name)
		l.Right, l.N, l.Unjudged = l.Right+t.Right, l.N+t.N, l.Unjudged+t.Unjudged
		l.Band = l.Band.plus(t.Band, k)
		if t.Estimate == nil || l.Estimate == nil {
			l.Estimate = nil
			continue
		}
		sum += t.Estimate.Value
		n := float64(t.N) + 4/k
		p := (float64(t.Estimate.Value*float64(t.N)) + 2/k) / n // not fused, so that every processor gives the same digits
		centre += p / k
		variance += p * (1 - p) / n / (k * k)
	}
	if e := l.Estimate; e != nil {
		half := z95 * math.Sqrt(variance)
		e.Value, e.N = math.Min(sum/k, 1), l.N
		e.Lo = math.Min(e.Value, math.Max(0, centre-half))
		e.Hi = math.Max(e.Value, math.Min(1, centre+half))
	}
	return l
}

// plus returns b with one k-th of other added, or nil if either is nil.
func (b *Band) plus(other *Band, k float64) *Band {
	if b == nil || other == nil {
		return nil
	}
	return &Band{math.Min(b.Lo+other.Lo/k, 1), math.Min(b.Hi+other.Hi/k, 1)}
}

// z95 is the 97.5% quantile of the standard normal distribution.
const z95 = 1.959963984540054

// Warnings returns caveats for the reader.
func (m *Metrics) Warnings() []string {
	var list, without []string
	for _, name := range types {
		if m.types[name].N() == 0 {
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		list = append(list, "no task-averaged accuracy, which upstream prints as nan, because no item is judged of "+strings.Join(without, ", "))
	}
	list = benchmark.Note(list, m.Unjudged(), "item", "unjudged, counted in no value")
	for _, name := range m.others() {
		if name == "" {
			list = append(list, words.Count(m.types[name].All(), "item")+" without a type, as in the files that evaluate_qa.py writes, counted in overall and not in task-averaged; the published questions, given with --data, tell the types")
			continue
		}
		list = append(list, "type "+name+" is not one of upstream's six: it counts in overall and not in task-averaged, and print_qa_metrics.py stops at it")
	}
	if left := m.overall.All() - m.overall.upstream; left > 0 {
		list = append(list, words.Count(left, "item")+" without a label that upstream could have given, left out of its lines")
	}
	return list
}
