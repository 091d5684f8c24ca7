package longbench

import (
	"fmt"
	"io"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/text"
)

// Text writes the scores: each task, the mean over tasks, and then the file that upstream
// would have written.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	if len(m.order) > 0 {
		heading(&b, "task", "metric")
		for _, l := range append(m.Tasks(), m.Mean()) {
			l.write(&b, "")
		}
	}
	if lines := m.Choices(); len(lines) > 0 {
		heading(&b, "accuracy", "")
		for _, l := range lines {
			l.write(&b, "")
		}
	}
	for _, warning := range m.Warnings() {
		fmt.Fprintf(&b, "note: %s\n", warning)
	}
	if up := m.Upstream(); up != "" {
		program := "eval.py"
		if len(m.choices) > 0 {
			program = "result.py"
		}
		fmt.Fprintf(&b, "\nas %s writes it:\n%s\n", program, up)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(b *strings.Builder, name, metric string) {
	fmt.Fprintf(b, "%-32s %-14s  %7s  %-15s %5s  %s\n", name, metric, "score", "95% interval", "n", "unjudged")
}

// write writes a line, followed by its buckets.
func (l Line) write(b *strings.Builder, indent string) {
	score := "-"
	if l.Score != nil {
		score = text.Float(*l.Score)
	}
	fmt.Fprintf(b, "%-32s %-14s  %7s  %-15s %5d  %d\n", indent+l.Name, l.Metric, score, benchmark.Interval(l.Estimate), l.N, l.Unjudged)
	for _, part := range l.Buckets {
		part.write(b, indent+"  ")
	}
}

// Upstream returns the output of the published program for the same scores: result.json of
// eval.py, or for LongBench v2 the two lines of result.py without the model's name. Tasks
// are in the order of their records. It is "" unless the verdicts are those of upstream.
func (m *Metrics) Upstream() string {
	if !m.verdicts.Comparable() {
		return ""
	}
	if len(m.choices) > 0 {
		scores := make([]string, len(choiceLines))
		for i, name := range choiceLines {
			scores[i] = number(m.choice(name).Score)
		}
		return strings.Join(choiceLines, "\t") + "\n" + strings.Join(scores, "\t")
	}
	if len(m.order) == 0 {
		return ""
	}
	var b strings.Builder // json.dump(scores, ensure_ascii=False, indent=4)
	for i, name := range m.order {
		if i > 0 {
			b.WriteString(",")
		}
		l := m.tasks[name].line(name)
		fmt.Fprintf(&b, "\n    %s: ", quote(name))
		if l.Buckets == nil {
			b.WriteString(number(l.Score))
			continue
		}
		b.WriteString("{")
		for k, part := range l.Buckets {
			if k > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n        %s: %s", quote(part.Name), number(part.Score))
		}
		b.WriteString("\n    }")
	}
	return "{" + b.String() + "\n}"
}

// quote quotes the name of a task, which needs no escaping.
func quote(name string) string { return `"` + name + `"` }

// number formats a float as Python does.
func number(score *float64) string {
	if score == nil {
		return "NaN"
	}
	return text.Float(*score)
}

// Warnings returns caveats for the reader.
func (m *Metrics) Warnings() []string {
	var list []string
	if warning := m.verdicts.Warning(table.Title, "metrics"); warning != "" {
		list = append(list, warning)
	}
	list = benchmark.Note(list, m.Unjudged(), "item", m.verdicts.Unscored())
	for _, name := range choiceLines {
		if len(m.choices) > 0 && m.choice(name).N == 0 {
			list = append(list, "no judged item is "+name+", where upstream divides by zero")
		}
	}
	return list
}

// A summary is the metrics as JSON.
type summary struct {
	Benchmark string   `json:"benchmark"`
	Reading   string   `json:"reading"`
	Tasks     []Line   `json:"tasks,omitempty"`
	Mean      *Line    `json:"mean,omitempty"`
	Choices   []Line   `json:"choices,omitempty"`
	Unjudged  []string `json:"unjudged"`
	Warnings  []string `json:"warnings"`
	Upstream  string   `json:"upstream"` // result.json, or the table of result.py
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	s := summary{
		Benchmark: Name, Reading: m.verdicts.Reading(), Tasks: m.Tasks(), Choices: m.Choices(), Upstream: m.Upstream(),
		Unjudged: append([]string{}, m.Unjudged()...), Warnings: append([]string{}, m.Warnings()...),
	}
	if len(m.order) > 0 {
		mean := m.Mean()
		s.Mean = &mean
	}
	return s
}
