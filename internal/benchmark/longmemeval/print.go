package longmemeval

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"deem/internal/benchmark"
	"deem/internal/text"
	"deem/internal/words"
)

// Upstream returns the output of print_qa_metrics.py for the same replies. Items that
// upstream could not have labelled, because there was no reply, are left out.
func (m *Metrics) Upstream() string {
	var b strings.Builder
	b.WriteString("\nEvaluation results by task:\n")
	sum := 0.0
	var known counts // all items, for print_qa_metrics.py
	for _, name := range types {
		t := m.types[name]
		fmt.Fprintf(&b, "\t%s: %s (%d)\n", name, numpyRounded(t.share()), t.upstream)
		sum += t.share()
		known.upstream += t.upstream
		known.upstreamYes += t.upstreamYes
	}
	fmt.Fprintf(&b, "\nTask-averaged Accuracy: %s\n", numpyRounded(sum/float64(len(types))))
	fmt.Fprintf(&b, "Overall Accuracy: %s\n", numpyRounded(known.share()))
	fmt.Fprintf(&b, "Abstention Accuracy: %s (%d)\n", numpyRounded(m.abstention.share()), m.abstention.upstream)
	return b.String()
}

// UpstreamStdout returns the last lines that evaluate_qa.py prints for the same replies.
// Upstream lists the types of the data in the order of a Python set, which changes from run
// to run; here they are in the order of print_qa_metrics.py, including types without an
// item.
func (m *Metrics) UpstreamStdout() string {
	var b strings.Builder
	// This number is rounded by Python and all others by numpy.
	fmt.Fprintf(&b, "Accuracy: %s\n", pythonRounded(m.overall.share()))
	for _, name := range append(append([]string(nil), types...), m.others()...) {
		if name == "" {
			continue // Upstream takes the types from the questions, and each has one.
		}
		t := m.types[name]
		fmt.Fprintf(&b, "\t%s: %s (%d)\n", name, numpyRounded(t.share()), t.upstream)
	}
	return b.String()
}

// share returns the mean of upstream's labels, or NaN if there are none, like numpy.mean.
func (t *counts) share() float64 {
	return float64(t.upstreamYes) / float64(t.upstream)
}

// numpyRounded returns round(x, 4) of a numpy.float64, as Python prints it. numpy
// multiplies, rounds half to even, and divides, so that 1/160 becomes 0.0062, although the
// correctly rounded value is 0.0063.
func numpyRounded(x float64) string { return text.Float(math.RoundToEven(x*1e4) / 1e4) }

// pythonRounded returns round(x, 4) of a Python float, as Python prints it: the decimal
// nearest to the exact value of x.
func pythonRounded(x float64) string {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
	if err != nil {
		panic("longmemeval: FormatFloat gave no float: " + err.Error())
	}
	return text.Float(r)
}

// Text writes the metrics with their intervals, then the output of upstream's scripts.
func (m *Metrics) Text(w io.Writer) error {
	n := words.Count(m.overall.upstream, "item")
	err := m.Table(w)
	if err == nil {
		_, err = fmt.Fprintf(w, "\nas print_qa_metrics.py prints it, over %s:\n%s\nas evaluate_qa.py prints it, over %s, its types in a fixed order:\n\n%s",
			n, m.Upstream(), n, m.UpstreamStdout())
	}
	return err
}

// Table writes the numbers with their intervals. Lines without an item are left out; a note
// says which types they are, and why there is no task-averaged accuracy.
func (m *Metrics) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %9s  %-15s %5s  %s\n", "accuracy", "value", "95% interval", "n", "unjudged")
	lines := m.Types()
	if averaged := m.TaskAveraged(); averaged.Estimate != nil {
		lines = append(lines, averaged)
	}
	for _, l := range append(lines, m.Overall(), m.Abstention()) {
		if l.N+l.Unjudged == 0 {
			continue
		}
		switch l.Name {
		case abstention:
			l.Name += " (counted above)"
		case "":
			l.Name = "(no type)"
		}
		value, band := "-", ""
		if l.Estimate != nil {
			value = fmt.Sprintf("%.2f%%", 100*l.Estimate.Value)
		}
		if l.Unjudged > 0 && l.Band != nil {
			band = fmt.Sprintf("  (%.1f%% with these wrong, %.1f%% right)", 100*l.Band.Lo, 100*l.Band.Hi)
		}
		fmt.Fprintf(&b, "%-28s %9s  %-15s %5d  %d%s\n", l.Name, value, benchmark.Interval(l.Estimate), l.N, l.Unjudged, band)
	}
	for _, warning := range m.Warnings() {
		fmt.Fprintf(&b, "note: %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A summary is the metrics as JSON.
type summary struct {
	Benchmark      string   `json:"benchmark"`
	Types          []Line   `json:"types"`
	TaskAveraged   Line     `json:"task_averaged"`
	Overall        Line     `json:"overall"`
	Abstention     Line     `json:"abstention"`
	Unjudged       []string `json:"unjudged"`
	Warnings       []string `json:"warnings"`
	Upstream       string   `json:"print_qa_metrics"`
	UpstreamStdout string   `json:"evaluate_qa"`
	UpstreamItems  int      `json:"upstream_items"` // number of items in upstream's lines
}

// JSON returns the metrics as a value for encoding/json.
func (m *Metrics) JSON() any {
	return summary{
		Benchmark: Name, Types: m.Types(), TaskAveraged: m.TaskAveraged(),
		Overall: m.Overall(), Abstention: m.Abstention(),
		Unjudged: append([]string{}, m.Unjudged()...), Warnings: append([]string{}, m.Warnings()...),
		Upstream: m.Upstream(), UpstreamStdout: m.UpstreamStdout(), UpstreamItems: m.overall.upstream,
	}
}
