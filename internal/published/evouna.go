package published

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem/internal/words"
)

const shapeEVOUNA = "answers of several systems in each row, as EVOUNA writes them"

func isEVOUNA(c *content) bool { return len(systemsIn(c.pieces[0].node)) > 1 }

// The prefixes of the columns of a system.
const (
	answerColumn = "answer_"
	judgeColumn  = "judge_"
)

// systemsIn returns the systems with an answer and a verdict in a row.
func systemsIn(n node) []string {
	var list []string
	for _, key := range n.keys {
		if name, ok := strings.CutPrefix(key, answerColumn); ok && n.has(judgeColumn+name) {
			list = append(list, name)
		}
	}
	return list
}

// readEVOUNA makes a row for each system of each row, and leaves out the questions that the
// file marks as improper, because they were not judged. Columns named by --map are read as
// mapped.
func (s *Set) readEVOUNA(_ context.Context, src Source, c *content) error {
	if src.Map[partResponse] != "" || src.Map[partLabel] != "" {
		return s.readAny(src, c)
	}
	flat := *c
	flat.pieces = nil
	improper := 0
	for _, p := range c.pieces {
		if p.member("improper").text == "true" && len(src.Only) == 0 {
			improper++
			continue
		}
		var kept node
		systems := systemsIn(p.node)
		for i, key := range p.keys {
			name := strings.TrimPrefix(strings.TrimPrefix(key, answerColumn), judgeColumn)
			if name == key || !slices.Contains(systems, name) {
				kept.keys, kept.vals = append(kept.keys, key), append(kept.vals, p.vals[i])
			}
		}
		for _, name := range systems {
			row := node{
				kind: object,
				keys: append(slices.Clone(kept.keys), partSystem, partResponse, partLabel),
				vals: append(slices.Clone(kept.vals), node{kind: str, text: name}, p.member(answerColumn+name), p.member(judgeColumn+name)),
			}
			flat.pieces = append(flat.pieces, piece{file: p.file, line: p.line, node: row})
		}
	}
	if len(flat.pieces) == 0 {
		return fmt.Errorf("%s: every question in it is marked as improper", strings.Join(s.names, ", "))
	}
	if improper > 0 {
		s.leave("%s left out because the file marks the question as improper", words.Count(improper, "row"))
	}
	err := s.readAny(src, &flat)
	s.Shape = shapeEVOUNA
	return err
}
