package benchmark

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/words"
)

// A Table contains the scores of a benchmark in which every item has the same weight: a
// line over all items, and one for each value of a grouping. Only the first trial of an
// item counts.
type Table struct {
	// Benchmark is the name of the benchmark.
	Benchmark string

	// By are the names of the groupings, and Group returns the value of an item in a
	// grouping, or "".
	By    []string
	Group func(it deem.Item, by string) string

	// Upstream returns the name of upstream's program and its output for the same
	// items. It may be nil.
	Upstream func() (program, output string)

	Notes []string // caveats

	// Metric is the name of the score; "" means accuracy.
	Metric string

	// Readings are the readings of the benchmark's rule, and Score is that rule. If Score
	// is set, the table has a line for each reading, so that the numbers of all readings
	// stand beside the one of the run, which is Reading.
	Readings []string
	Reading  string
	Score    Scorer

	// Apart means that each group has its own metric, so that a table of several groups
	// has no line over all items.
	Apart bool

	all     Tally
	groups  map[string]map[string]*Tally
	scores  map[string]*Tally // by reading
	foreign bool              // a verdict is of another judge
}

// Add adds a record.
func (t *Table) Add(rec deem.Record) {
	if rec.Trial != 0 {
		return
	}
	t.all.Add(rec)
	if t.groups == nil {
		t.groups = map[string]map[string]*Tally{}
	}
	for _, by := range t.By {
		value := t.Group(rec.Item, by)
		if value == "" {
			continue
		}
		if t.groups[by] == nil {
			t.groups[by] = map[string]*Tally{}
		}
		if t.groups[by][value] == nil {
			t.groups[by][value] = &Tally{}
		}
		t.groups[by][value].Add(rec)
	}
	t.reread(rec)
}

// reread scores an item under every reading.
func (t *Table) reread(rec deem.Record) {
	if t.Score == nil {
		return
	}
	if t.scores == nil {
		t.scores = map[string]*Tally{}
		for _, name := range t.Readings {
			t.scores[name] = &Tally{}
		}
	}
	t.foreign = t.foreign || rec.Judge != t.Benchmark
	for name, tally := range t.scores {
		again := rec
		again.Verdict = nil
		if v, err := t.Score(rec.Item, name); err == nil {
			again.Verdict = &v
		}
		tally.Add(again)
	}
}

// All returns the tally over all items.
func (t *Table) All() *Tally { return &t.all }

// Of returns the tallies of a grouping by value.
func (t *Table) Of(by string) map[string]*Tally { return t.groups[by] }

// A TableLine is one line of a table.
type TableLine struct {
	Group string `json:"group,omitempty"` // "" for all items
	Name  string `json:"name"`
	Right int    `json:"right"` // items with score 1
	Line
}

// Lines returns the lines of the table. The line over all items, if any, is the last.
func (t *Table) Lines() []TableLine {
	var list []TableLine
	clustered := t.all.Clustered()
	for _, by := range t.By {
		for _, value := range slices.Sorted(maps.Keys(t.groups[by])) {
			of := t.groups[by][value]
			list = append(list, TableLine{by, value, of.Right(), of.Line(clustered)})
		}
	}
	if t.Apart && len(list) > 0 {
		return list
	}
	return append(list, TableLine{"", "overall", t.all.Right(), t.all.Line(clustered)})
}

// A ReadingLine is the score of the same responses under one reading.
type ReadingLine struct {
	Reading string `json:"reading"`
	Chosen  bool   `json:"chosen"` // the verdicts of the run are under this reading
	Line
}

// ReadingLines returns a line for each reading, in the order of Readings.
func (t *Table) ReadingLines() []ReadingLine {
	var list []ReadingLine
	for _, name := range t.Readings {
		if of := t.scores[name]; of != nil {
			list = append(list, ReadingLine{name, name == t.Reading && !t.foreign, of.Line(t.all.Clustered())})
		}
	}
	return list
}

// chosen marks the reading of the run.
const chosen = " (this run)"

// Text writes the table and the output of upstream's program.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	lines, title := t.Lines(), cmp.Or(t.Metric, "accuracy")
	width := len(title)
	for _, l := range lines {
		width = max(width, len(l.Name)+2)
	}
	readings := t.ReadingLines()
	for _, l := range readings {
		width = max(width, len(l.Reading)+len(chosen)+2)
	}
	write := func(name string, l Line) {
		value := "-"
		if l.Estimate != nil {
			value = fmt.Sprintf("%.2f%%", 100*l.Estimate.Value)
		}
		fmt.Fprintf(&b, "%-*s %8s  %-15s %5d  %d\n", width, name, value, Interval(l.Estimate), l.N, l.Unjudged)
	}
	fmt.Fprintf(&b, "%-*s %8s  %-15s %5s  %s\n", width, title, "value", "95% interval", "n", "unjudged")
	group := ""
	for _, l := range lines {
		if l.Group != group && l.Group != "" {
			fmt.Fprintf(&b, "by %s\n", l.Group)
		}
		group = l.Group
		name := l.Name
		if l.Group != "" {
			name = "  " + name
		}
		write(name, l.Line)
	}
	if len(readings) > 0 {
		fmt.Fprintln(&b, "the same responses by reading")
	}
	for _, l := range readings {
		name := "  " + l.Reading
		if l.Chosen {
			name += chosen
		}
		write(name, l.Line)
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if program, output := t.upstream(); output != "" {
		fmt.Fprintf(&b, "\nas %s prints it, over %s, an unjudged one counted as wrong:\n%s", program, words.Count(t.all.All(), "item"), output)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) upstream() (program, output string) {
	if t.Upstream == nil || t.all.All() == 0 {
		return "", ""
	}
	return t.Upstream()
}

// JSON returns the table as a value for encoding/json.
func (t *Table) JSON() any {
	_, output := t.upstream()
	return struct {
		Benchmark string        `json:"benchmark"`
		Lines     []TableLine   `json:"lines"`
		Readings  []ReadingLine `json:"readings,omitempty"`
		Notes     []string      `json:"notes"`
		Upstream  string        `json:"upstream,omitempty"`
	}{t.Benchmark, t.Lines(), t.ReadingLines(), append([]string{}, t.Notes...), output}
}
