package infinitebench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/text"
)

// Metrics computes the published scores from the records of a run. Records must come in the
// order of the items: upstream adds scores one by one, and the last digit of a sum of
// floats depends on the order. Only the first trial of an item counts.
type Metrics struct {
	verdicts benchmark.Verdicts
	tasks    map[string]*benchmark.Tally
}

// NewMetrics returns metrics without records for a run under the given reading.
func NewMetrics(reading string) *Metrics {
	return &Metrics{verdicts: benchmark.NewVerdicts(Name, reading), tasks: map[string]*benchmark.Tally{}}
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if !m.verdicts.Add(rec) {
		return
	}
	t, ok := m.tasks[rec.Item.Category]
	if !ok {
		t = &benchmark.Tally{}
		m.tasks[rec.Item.Category] = t
	}
	t.Add(rec)
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return m.verdicts.Unjudged() }

// A Line is one published score over judged items.
type Line struct {
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`  // as in the README's table
	Metric string `json:"metric,omitempty"` // "" if several are combined

	// Mean is the score that compute_scores.py prints, from 0 to 1; nil, null in JSON,
	// if no item is judged.
	Mean *float64 `json:"mean"`

	// N and Unjudged count the items with and without a verdict, and Estimate is the
	// same score with its interval.
	benchmark.Line
}

// Tasks returns the mean of each task, in the order of the README's table.
func (m *Metrics) Tasks() []Line {
	lines := make([]Line, 0, len(m.tasks))
	for name, t := range m.tasks {
		about, _ := table.Of(name)
		l := Line{Name: name, Title: about.title, Metric: cmp.Or(about.metric, accuracy), Line: t.Line(false)}
		if l.N > 0 {
			mean := t.Sum() / float64(l.N)
			l.Mean = &mean
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(table.Rank(a.Name)-table.Rank(b.Name), strings.Compare(a.Name, b.Name))
	})
	return lines
}

// accuracy is the metric of a task in which a response is right or wrong.
const accuracy = "accuracy"

// Mean returns the mean over the tasks that have judged items. Each task has the same
// weight, whatever its number of items. Upstream does not print it. The interval combines
// those of the tasks.
func (m *Metrics) Mean() Line {
	tasks := m.Tasks()
	parts := make([]benchmark.Line, len(tasks))
	for i, t := range tasks {
		parts[i] = t.Line
	}
	l := Line{Name: "mean over tasks", Line: benchmark.Mean(parts)}
	if l.Estimate != nil {
		l.Mean = &l.Estimate.Value
	}
	return l
}

// Cell returns the score as in the README's table: in per cent with two digits, and
// anything below 5% as "< 5%". It is "-" without a score.
func (l Line) Cell() string {
	switch {
	case l.Mean == nil:
		return "-"
	case *l.Mean < 0.05:
		return "< 5%"
	}
	return fmt.Sprintf("%.2f%%", text.Round(100**l.Mean, 2))
}
