package locomo

import (
	"fmt"
	"maps"
	"slices"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// Metrics computes scores by category from the records of a run. Only the first trial of an
// item counts. The last digits of upstream's sums depend on the order of the records, as in
// upstream.
type Metrics struct {
	five    Policy // for category 5
	reading string // of the rule
	judge   string
	others  bool // the records come from several judges
	lines   map[string]*counts
	overall counts
	places  map[string]bool // conversations

	unjudged []string
}

// counts contains the items of one line.
type counts struct {
	benchmark.Tally
	recall   benchmark.Tally
	upstream upstreamSum
}

// NewMetrics returns metrics without records for a run with this policy for category 5 and
// this reading of the rule. An unknown policy or reading counts as the default; it was
// rejected when the judge was created.
func NewMetrics(category5 Policy, reading string) *Metrics {
	policy, err := ParsePolicy(string(category5))
	if err != nil {
		policy = Excluded
	}
	if reading != Fixed {
		reading = Upstream
	}
	return &Metrics{five: policy, reading: reading, lines: map[string]*counts{}, places: map[string]bool{}}
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return // Trials of one item are not new items.
	}
	if m.judge == "" {
		m.judge = rec.Judge
	}
	m.others = m.others || rec.Judge != m.judge
	m.places[rec.Item.Cluster] = true
	t := m.lines[rec.Item.Category]
	if t == nil {
		t = &counts{}
		m.lines[rec.Item.Category] = t
	}
	for _, t := range []*counts{t, &m.overall} {
		t.Add(rec)
		if rec.Verdict == nil {
			continue
		}
		if r, ok := rec.Verdict.Aspects[RecallAspect]; ok {
			t.recall.Score(rec.Item.Cluster, r)
		}
	}
	if u, ok := upstreamOf(rec); ok {
		t.upstream.add(u)
		m.overall.upstream.add(u)
	}
	if rec.Verdict == nil {
		m.unjudged = append(m.unjudged, rec.Item.ID)
	}
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return slices.Sorted(slices.Values(m.unjudged)) }

// overallName is the name of the line over all items.
const overallName = "overall"

// A Line is one score: the mean over judged items, with its confidence interval.
type Line struct {
	Category string `json:"category,omitempty"` // the number; "" for all
	Name     string `json:"name"`
	Right    int    `json:"right"` // items with score 1

	// N and Unjudged count the items with and without a verdict, and Estimate is the
	// score with its interval.
	benchmark.Line

	// Recall is the mean share of the evidence that was retrieved; nil if no item
	// states what was retrieved.
	Recall *benchmark.Estimate `json:"recall,omitempty"`
}

// Categories returns the line of each category by number. Categories without a record are
// left out.
func (m *Metrics) Categories() []Line {
	var lines []Line
	for _, id := range slices.Sorted(maps.Keys(m.lines)) {
		l := m.lineOf(m.lines[id])
		l.Category, l.Name = id, categoryName(id)
		lines = append(lines, l)
	}
	return lines
}

// Overall returns the line over all items: the mean over questions, not over categories.
func (m *Metrics) Overall() Line {
	l := m.lineOf(&m.overall)
	l.Name = overallName
	return l
}

// lineOf returns the numbers of a tally.
func (m *Metrics) lineOf(t *counts) Line {
	clustered := m.overall.Clustered()
	return Line{Right: t.Right(), Line: t.Line(clustered), Recall: t.recall.Estimate(clustered)}
}

// Warnings returns caveats for the reader.
func (m *Metrics) Warnings() []string {
	var list []string
	if m.others {
		list = append(list, "the records come from several judges, whose scores cannot be combined")
	}
	list = benchmark.Note(list, m.Unjudged(), "item", "unjudged, in no number")
	if m.hasExcludedItems() {
		five := m.lines[Adversarial]
		note := words.Count(five.All(), "item") + " of category 5 counted in overall, as recorded; most published scores leave them out"
		if n := m.overall.N() - five.N(); n > 0 {
			mean := (m.overall.Sum() - five.Sum()) / float64(n)
			note += fmt.Sprintf(", and without them it is %.2f%% over %s", 100*mean, words.Count(n, "item"))
		}
		list = append(list, note)
	}
	if m.overall.Clustered() {
		note := "the questions are about " + words.Count(len(m.places), "conversation")
		if len(m.places) == 1 {
			note += ": how far conversations differ cannot be seen from one, so there is no interval"
		} else {
			note += ", and the intervals allow for how far these differ, as those of the report do"
		}
		list = append(list, note)
	}
	return list
}

// hasExcludedItems reports whether there are items of category 5 although the policy excludes
// them. [Open] does not create such items; they come with verdicts recorded by others.
func (m *Metrics) hasExcludedItems() bool {
	return m.lines[Adversarial] != nil && m.five == Excluded
}

// policy returns how category 5 was treated: the policy of the run, unless the records
// contradict it.
func (m *Metrics) policy() Policy {
	if m.hasExcludedItems() {
		return recordedFive
	}
	return m.five
}
