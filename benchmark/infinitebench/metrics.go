package infinitebench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"deem"
	"deem/stat"
	"deem/text"
)

// Metrics gather the records of a run and turn them into the published numbers. They
// take the records in the order of the items: upstream adds scores one by one, and
// the last digit of a sum of floats hangs on the order. Of an item that was judged
// several times, the first trial counts.
type Metrics struct {
	reading  string
	tasks    map[string]*tally
	unjudged []string
	strange  []string // judges other than ours
}

// NewMetrics returns metrics without records of a run under the given reading.
func NewMetrics(reading string) *Metrics {
	return &Metrics{reading: cmp.Or(reading, Upstream), tasks: map[string]*tally{}}
}

// A tally counts the items of one task.
type tally struct {
	sum      float64 // as upstream adds up
	scores   stat.Moments
	right    int // with score 1
	unjudged int
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return // Trials of one item are no new items.
	}
	if rec.Judge != Name && !slices.Contains(m.strange, rec.Judge) {
		m.strange = append(m.strange, rec.Judge)
	}
	t, ok := m.tasks[rec.Item.Category]
	if !ok {
		t = &tally{}
		m.tasks[rec.Item.Category] = t
	}
	if rec.Verdict == nil {
		t.unjudged++
		m.unjudged = append(m.unjudged, rec.Item.ID)
		return
	}
	t.sum += rec.Verdict.Score
	t.scores.Add(rec.Verdict.Score, 1)
	if rec.Verdict.Score == 1 {
		t.right++
	}
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return slices.Sorted(slices.Values(m.unjudged)) }

// A Line is one published number, over judged items.
type Line struct {
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`  // as the README's table has it
	Metric string `json:"metric,omitempty"` // "" where several are put together

	// Mean is the number that compute_scores.py prints, from 0 to 1; nil, null in
	// JSON, when no item is judged.
	Mean *float64 `json:"mean"`

	N        int `json:"n"`        // judged items
	Unjudged int `json:"unjudged"` // items without a verdict, in no number

	// Estimate is the same with its interval.
	Estimate *stat.Estimate `json:"estimate"`
}

// Tasks returns the mean of each task, in the order of the README's table.
func (m *Metrics) Tasks() []Line {
	names := make([]string, 0, len(m.tasks))
	for name := range m.tasks {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	lines := make([]Line, len(names))
	for i, name := range names {
		lines[i] = m.tasks[name].line(name)
	}
	return lines
}

// accuracy is what the metric of a task is called in which a response is right or
// wrong.
const accuracy = "accuracy"

// line returns the mean of a task: Wilson's interval for verdicts that are right or
// wrong, Student's for graded ones.
func (t *tally) line(name string) Line {
	about, _ := taskOf(name)
	l := Line{
		Name: name, Title: about.title, Metric: cmp.Or(about.metric, accuracy),
		N: t.scores.N(), Unjudged: t.unjudged,
	}
	if l.N == 0 {
		return l
	}
	mean := t.sum / float64(l.N)
	est := stat.MeanIn(t.scores, stat.DefaultLevel, stat.Unit)
	if t.scores.Binary() {
		est = stat.Proportion(t.right, l.N)
	}
	l.Mean, l.Estimate = &mean, &est
	return l
}

// MethodMover names the interval of the mean over tasks; see there.
const MethodMover = "mover"

// Mean returns the mean over the tasks that have judged items, each weighing the
// same whatever its number of items. Upstream prints none.
//
// The tasks are independent samples, so the distances from each mean to the ends of
// its own interval add up in squares, apart for the lower and the upper side (Zou
// and Donner, Statistics in Medicine 27, 2008, 1693-1702).
func (m *Metrics) Mean() Line {
	l := Line{Name: "mean over tasks"}
	est := stat.Estimate{Level: stat.DefaultLevel, Method: MethodMover}
	k, sum, below, above := 0.0, 0.0, 0.0, 0.0
	for _, t := range m.Tasks() {
		l.N, l.Unjudged = l.N+t.N, l.Unjudged+t.Unjudged
		if t.Estimate == nil {
			continue
		}
		k++
		sum += t.Estimate.Value
		below += square(t.Estimate.Value - t.Estimate.Lo)
		above += square(t.Estimate.Hi - t.Estimate.Value)
	}
	if k == 0 {
		return l
	}
	est.Value, est.N = sum/k, l.N
	est.Lo, est.Hi = math.Max(0, est.Value-math.Sqrt(below)/k), math.Min(1, est.Value+math.Sqrt(above)/k)
	l.Estimate, l.Mean = &est, &est.Value
	return l
}

func square(x float64) float64 { return float64(x * x) } // not fused into a sum, so that every processor gives the same digits

// Cell returns the number as the README's table has it: in per cent with two digits,
// and anything below 5% as "< 5%". It is "-" without a number.
func (l Line) Cell() string {
	switch {
	case l.Mean == nil:
		return "-"
	case *l.Mean < 0.05:
		return "< 5%"
	}
	return fmt.Sprintf("%.2f%%", text.Round(100**l.Mean, 2))
}
