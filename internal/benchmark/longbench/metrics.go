package longbench

import (
	"maps"
	"math"
	"slices"
	"strconv"
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
	tasks    map[string]*counts
	order    []string // of the tasks, in order of arrival
	choices  map[string]*counts
}

// NewMetrics returns metrics without records for a run under the given reading.
func NewMetrics(reading string) *Metrics {
	return &Metrics{verdicts: benchmark.NewVerdicts(Name, reading), tasks: map[string]*counts{}, choices: map[string]*counts{}}
}

// counts contains the items of one task.
type counts struct {
	benchmark.Tally
	even    bool                 // of LongBench-E
	buckets [len(bounds)]*bucket // by length
}

// A bucket contains the scores of one length in LongBench-E. Upstream computes their mean
// with numpy, whose order of additions requires all scores.
type bucket struct {
	benchmark.Tally
	list []float64
}

// A bound is a bucket of LongBench-E: its name, and the length below which a text belongs
// to it.
type bound struct {
	name  string
	below float64
}

var bounds = [...]bound{{"0-4k", 4000}, {"4-8k", 8000}, {"8k+", math.Inf(1)}}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	if !m.verdicts.Add(rec) {
		return
	}
	if rec.Item.Fields[fieldEdition] != V2 {
		t, ok := m.tasks[rec.Item.Category]
		if !ok {
			t = &counts{even: rec.Item.Fields[fieldEdition] == E}
			m.tasks[rec.Item.Category] = t
			m.order = append(m.order, rec.Item.Category)
		}
		t.add(rec)
		return
	}
	// In upstream's lines of LongBench v2, anything that is not easy counts as hard, and
	// anything that is neither short nor medium as long.
	difficulty, length := "Hard", "Long"
	if rec.Item.Fields[fieldDifficulty] == "easy" {
		difficulty = "Easy"
	}
	switch rec.Item.Fields[fieldLength] {
	case "short":
		length = "Short"
	case "medium":
		length = "Medium"
	}
	for _, name := range []string{overall, difficulty, length, domainPrefix + rec.Item.Category} {
		t, ok := m.choices[name]
		if !ok {
			t = &counts{}
			m.choices[name] = t
		}
		t.add(rec)
	}
}

func (t *counts) add(rec deem.Record) {
	t.Add(rec)
	if !t.even {
		return
	}
	n, err := strconv.ParseFloat(rec.Item.Fields[fieldLength], 64)
	i := slices.IndexFunc(bounds[:], func(b bound) bool { return n < b.below })
	if err != nil || i < 0 {
		return // not an item of Open, or not a number
	}
	if t.buckets[i] == nil {
		t.buckets[i] = &bucket{}
	}
	t.buckets[i].Add(rec)
	if rec.Verdict != nil {
		t.buckets[i].list = append(t.buckets[i].list, rec.Verdict.Score)
	}
}

// Unjudged returns the ids of the items without a verdict, sorted.
func (m *Metrics) Unjudged() []string { return m.verdicts.Unjudged() }

// A Line is one published score over judged items.
type Line struct {
	Name   string `json:"name"`
	Metric string `json:"metric,omitempty"` // "" if several are combined

	// Score is the score with upstream's rounding, from 0 to 100; nil, null in JSON, if
	// no item is judged, where upstream stops or prints NaN.
	Score *float64 `json:"score"`

	// N and Unjudged count the items with and without a verdict, and Estimate is the
	// unrounded share, from 0 to 1, with its interval.
	benchmark.Line

	Buckets []Line `json:"buckets,omitempty"` // of LongBench-E, by length
}

// Tasks returns the score of each task, in the order of eval.py.
func (m *Metrics) Tasks() []Line {
	lines := make([]Line, 0, len(m.order))
	for _, name := range slices.SortedStableFunc(slices.Values(m.order), func(a, b string) int { return table.Rank(a) - table.Rank(b) }) {
		t, _ := table.Of(name)
		l := m.tasks[name].line(name)
		l.Metric = t.metric
		lines = append(lines, l)
	}
	return lines
}

// line returns the score of a task.
func (t *counts) line(name string) Line {
	l := Line{Name: name, Line: t.Line(false)}
	if l.N > 0 {
		l.Score = rounded(100 * t.Sum() / float64(l.N)) // added in upstream's order
	}
	for i, b := range t.buckets {
		if t.even {
			l.Buckets = append(l.Buckets, b.line(bounds[i].name))
		}
	}
	return l
}

// rounded returns a score with upstream's rounding.
func rounded(score float64) *float64 {
	score = text.Round(score, 2)
	return &score
}

// line returns the score of a bucket, which may be nil.
func (b *bucket) line(name string) Line {
	if b == nil {
		return Line{Name: name}
	}
	l := Line{Name: name, Line: b.Line(false)}
	if l.N > 0 {
		score := text.NumpyRound(100*(numpySum(b.list)/float64(len(b.list))), 2)
		l.Score = &score
	}
	return l
}

// Mean returns the mean over the tasks that have judged items. Each task has the same
// weight, whatever its number of items. Upstream's program does not print it; its tables
// do. The interval combines those of the tasks.
func (m *Metrics) Mean() Line {
	return mean("mean over tasks", m.Tasks())
}

// mean returns the mean over lines, and over each of their buckets.
func mean(name string, lines []Line) Line {
	parts := make([]benchmark.Line, len(lines))
	for i, l := range lines {
		parts[i] = l.Line
	}
	l := Line{Name: name, Line: benchmark.Mean(parts)}
	if l.Estimate == nil {
		return l
	}
	l.Score = rounded(100 * l.Estimate.Value)
	for i := range bounds {
		var parts []Line
		for _, l := range lines {
			if len(l.Buckets) > i {
				parts = append(parts, l.Buckets[i])
			}
		}
		if len(parts) > 0 {
			l.Buckets = append(l.Buckets, mean(bounds[i].name, parts))
		}
	}
	return l
}

// The lines of LongBench v2, in the order of result.py. Here the domains follow them.
const overall = "Overall"

var choiceLines = []string{overall, "Easy", "Hard", "Short", "Medium", "Long"}

// domainPrefix distinguishes a domain from a line of result.py.
const domainPrefix = "domain "

// Choices returns the lines of LongBench v2, in the order and with the rounding of
// result.py, followed by the domains by name. There are none for other editions.
func (m *Metrics) Choices() []Line {
	if len(m.choices) == 0 {
		return nil
	}
	var lines []Line
	for _, name := range choiceLines {
		lines = append(lines, m.choice(name))
	}
	for _, name := range slices.Sorted(maps.Keys(m.choices)) {
		if domain, ok := strings.CutPrefix(name, domainPrefix); ok && domain != "" {
			l := m.choice(name)
			l.Name = domain
			lines = append(lines, l)
		}
	}
	return lines
}

// choice returns one line, which may have no items.
func (m *Metrics) choice(name string) Line {
	t := m.choices[name]
	if t == nil {
		return Line{Name: name}
	}
	l := t.line(name)
	if l.N > 0 {
		score := text.Round(100*float64(t.Right())/float64(l.N), 1)
		l.Score = &score
	}
	return l
}

// numpySum adds in numpy's order, so that the last digit is numpy's: in pairs of blocks of
// up to 128 numbers, each in eight sums. It follows pairwise_sum in numpy's
// loops_utils.h.src.
func numpySum(list []float64) float64 {
	const block = 128
	n := len(list)
	if n > block {
		half := n / 2
		half -= half % 8
		return numpySum(list[:half]) + numpySum(list[half:])
	}
	sum, i := 0.0, 0
	if n >= 8 {
		// Every eighth number, then the sums in pairs.
		var r [8]float64
		copy(r[:], list)
		for i = 8; i+8 <= n; i += 8 {
			for k := range r {
				r[k] += list[i+k]
			}
		}
		sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	}
	for _, x := range list[i:] {
		sum += x
	}
	return sum
}
