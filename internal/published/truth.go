package published

import (
	"fmt"
	"maps"
	"slices"

	"deem"
)

// readTruth reads what a row says is true of its response, where a column was named.
// What is not a verdict there is no truth either.
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

// truthAt returns the truth about a row, nil for none and for a row that is not there.
func (s *Set) truthAt(row int) *deem.Verdict {
	if row < 0 || row >= len(s.truth) {
		return nil
	}
	return s.truth[row]
}

// Truth returns what the rows say is true of each item, nil where they do not, and
// whether a column of it was named at all.
func (s *Set) Truth() ([]*deem.Verdict, bool) { return slices.Clone(s.truth), s.truth != nil }

// Know adds numbers that somebody counted from the rows, so that a [Claim] may be about
// them by name.
func (s *Set) Know(stats map[string]float64) {
	if s.stats == nil {
		s.stats = map[string]float64{}
	}
	maps.Copy(s.stats, stats)
}

// leave says that rows were left out.
func (s *Set) leave(format string, args ...any) {
	s.LeftOut = append(s.LeftOut, fmt.Sprintf(format, args...))
}

// Note adds to what the user should know about the files.
func (s *Set) Note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}
