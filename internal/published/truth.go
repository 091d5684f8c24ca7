package published

import (
	"fmt"
	"maps"
	"slices"

	"deem"
)

// readTruth reads the truth about a response, if a column for it was mapped. A value that
// is not a verdict is not a truth either.
func (b *builder) readTruth(r row) {
	path, ok := b.layout.mapping[partTruth]
	if !ok {
		return
	}
	words := b.layout.words
	words.inverted = slices.ContainsFunc(verdictColumns, func(c verdictColumn) bool { return c.path == path && c.inverted })
	v := b.take(r, partTruth)
	b.measure(v, path)
	b.truth = append(b.truth, words.read(v).verdict)
}

// truthAt returns the truth about a row, nil if there is none or no such row.
func (s *Set) truthAt(row int) *deem.Verdict {
	if row < 0 || row >= len(s.truth) {
		return nil
	}
	return s.truth[row]
}

// Truth returns the truth about each item, nil for an item without one, and whether a
// column for it was mapped at all.
func (s *Set) Truth() ([]*deem.Verdict, bool) { return slices.Clone(s.truth), s.truth != nil }

// Know adds numbers computed from the rows, so that a [Claim] can refer to them by name.
func (s *Set) Know(stats map[string]float64) {
	if s.stats == nil {
		s.stats = map[string]float64{}
	}
	maps.Copy(s.stats, stats)
}

// leave records that rows were left out.
func (s *Set) leave(format string, args ...any) {
	s.LeftOut = append(s.LeftOut, fmt.Sprintf(format, args...))
}

// Note adds a note for the user.
func (s *Set) Note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}
