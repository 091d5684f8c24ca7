package infinitebench

import (
	"fmt"
	"io"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/text"
)

// Text writes the scores: each task and the mean over tasks, and then the README's table
// for this system.
func (m *Metrics) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-20s %-10s  %7s  %-15s %5s  %s\n", "task", "metric", "score", "95% interval", "n", "unjudged")
	for _, l := range append(m.Tasks(), m.Mean()) {
		score := "-"
		if l.Mean != nil {
			score = fmt.Sprintf("%.2f%%", text.Round(100**l.Mean, 2))
		}
		fmt.Fprintf(&b, "%-20s %-10s  %7s  %-15s %5d  %d\n", l.Name, l.Metric, score, benchmark.Interval(l.Estimate), l.N, l.Unjudged)
	}
	for _, warning := range m.Warnings() {
		fmt.Fprintf(&b, "note: %s\n", warning)
	}
	if table := m.README(); table != "" {
		fmt.Fprintf(&b, "\nas the table in upstream's README has it:\n%s", table)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// README returns a row for each task in the table of upstream's README. It is "" unless the
// verdicts are those of upstream.
func (m *Metrics) README() string {
	if !m.verdicts.Comparable() {
		return ""
	}
	var b strings.Builder
	for _, l := range m.Tasks() {
		if l.Title != "" {
			fmt.Fprintf(&b, "| %-16s | %7s |\n", l.Title, l.Cell())
		}
	}
	return b.String()
}

// Upstream returns the scores that compute_scores.py prints, each after its task, with all
// digits. It is "" unless the verdicts are those of upstream.
func (m *Metrics) Upstream() string {
	if !m.verdicts.Comparable() {
		return ""
	}
	var b strings.Builder
	for _, l := range m.Tasks() {
		if l.Mean != nil {
			fmt.Fprintf(&b, "%s %s\n", l.Name, text.Float(*l.Mean))
		}
	}
	return b.String()
}

// Warnings returns caveats for the reader.
func (m *Metrics) Warnings() []string {
	var list []string
	if warning := m.verdicts.Warning(table.Title, "rules"); warning != "" {
		list = append(list, warning)
	}
	return benchmark.Note(list, m.Unjudged(), "item", m.verdicts.Unscored())
}

// A summary is the metrics as JSON.
type summary struct {
	Benchmark string   `json:"benchmark"`
	Reading   string   `json:"reading"`
	Tasks     []Line   `json:"tasks"`
	Mean      Line     `json:"mean"`
	Unjudged  []string `json:"unjudged"`
	Warnings  []string `json:"warnings"`
	Upstream  string   `json:"upstream"` // the output of compute_scores.py, after each task
	README    string   `json:"readme"`   // the rows of the README's table
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	return summary{
		Benchmark: Name, Reading: m.verdicts.Reading(), Tasks: m.Tasks(), Mean: m.Mean(), Upstream: m.Upstream(), README: m.README(),
		Unjudged: append([]string{}, m.Unjudged()...), Warnings: append([]string{}, m.Warnings()...),
	}
}
