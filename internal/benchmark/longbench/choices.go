package longbench

import (
	"maps"
	"slices"
	"strings"

	"deem/internal/text"
)

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
