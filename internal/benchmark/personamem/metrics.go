package personamem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// Metrics are the scores by upstream's groups of questions.
type Metrics struct {
	benchmark.Table
	judge string
}

// NewMetrics returns metrics without records.
func NewMetrics() *Metrics {
	m := &Metrics{Table: benchmark.Table{
		Benchmark: Name, By: []string{fieldScenario, fieldType, fieldUpdated, fieldWho},
		Group: func(it deem.Item, by string) string { return it.Fields[by] },
	}}
	m.Upstream = m.upstream
	return m
}

// Add adds a record.
func (m *Metrics) Add(rec deem.Record) {
	m.judge = rec.Judge
	m.Table.Add(rec)
}

// upstream returns the output of print_evaluation_stats for choices.
func (m *Metrics) upstream() (program, output string) {
	if m.judge != ChoiceName {
		return "", ""
	}
	var b strings.Builder
	share := func(t *benchmark.Tally) string {
		return fmt.Sprintf("%.3f (%d/%d)", float64(t.Right())/float64(t.All()), t.Right(), t.All())
	}
	fmt.Fprintf(&b, "Overall Accuracy: %s\n", share(m.All()))
	for _, by := range m.By {
		fmt.Fprintf(&b, "\nAccuracy by %s:\n", by)
		for _, value := range slices.Sorted(maps.Keys(m.Of(by))) {
			fmt.Fprintf(&b, "  %s: %s\n", value, share(m.Of(by)[value]))
		}
	}
	return "inference.py", b.String()
}
