package benchmark

import (
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

	// Apart means that each group has its own metric, so that a table of several groups
	// has no line over all items.
	Apart bool

	all    Tally
	groups map[string]map[string]*Tally
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

// Text writes the table and the output of upstream's program.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	lines := t.Lines()
	width := len("accuracy")
	for _, l := range lines {
		width = max(width, len(l.Name)+2)
	}
	fmt.Fprintf(&b, "%-*s %8s  %-15s %5s  %s\n", width, "accuracy", "value", "95% interval", "n", "unjudged")
	group := ""
	for _, l := range lines {
		if l.Group != group && l.Group != "" {
			fmt.Fprintf(&b, "by %s\n", l.Group)
		}
		group = l.Group
		name, value := l.Name, "-"
		if l.Group != "" {
			name = "  " + name
		}
		if l.Estimate != nil {
			value = fmt.Sprintf("%.2f%%", 100*l.Estimate.Value)
		}
		fmt.Fprintf(&b, "%-*s %8s  %-15s %5d  %d\n", width, name, value, Interval(l.Estimate), l.N, l.Unjudged)
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
		Benchmark string      `json:"benchmark"`
		Lines     []TableLine `json:"lines"`
		Notes     []string    `json:"notes"`
		Upstream  string      `json:"upstream,omitempty"`
	}{t.Benchmark, t.Lines(), append([]string{}, t.Notes...), output}
}
