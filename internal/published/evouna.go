package published

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
)

const shapeEVOUNA = "answers of several systems in each row, as EVOUNA writes them"

// isEVOUNA reports whether rows have answers and verdicts of several systems. Settings next
// to a list of rows, such as answer_model and judge_model, are not columns of the rows.
func isEVOUNA(c *content) bool {
	first := c.pieces[0].Node
	return len(systemsIn(first)) > 1 && valueByName(first, partQuestion).IsScalar()
}

// The prefixes of the columns of a system.
const (
	answerColumn = "answer_"
	judgeColumn  = "judge_"
)

// systemsIn returns the systems with an answer and a verdict in a row. A verdict that is
// neither right, wrong nor missing is a setting.
func systemsIn(n rows.Node) []string {
	var list []string
	for _, key := range n.Keys {
		name, ok := strings.CutPrefix(key, answerColumn)
		if !ok || !n.Has(judgeColumn+name) {
			continue
		}
		if o := (vocabulary{}).read(n.Member(judgeColumn + name)); o.verdict != nil || o.failure.Kind == deem.Empty {
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
		if p.Member("improper").Text == "true" && len(src.Only) == 0 {
			improper++
			continue
		}
		var kept rows.Node
		systems := systemsIn(p.Node)
		for i, key := range p.Keys {
			name := strings.TrimPrefix(strings.TrimPrefix(key, answerColumn), judgeColumn)
			if name == key || !slices.Contains(systems, name) {
				kept.Keys, kept.Vals = append(kept.Keys, key), append(kept.Vals, p.Vals[i])
			}
		}
		for _, name := range systems {
			row := rows.Node{
				Kind: rows.Object,
				Keys: append(slices.Clone(kept.Keys), partSystem, partResponse, partLabel),
				Vals: append(slices.Clone(kept.Vals), rows.Node{Kind: rows.String, Text: name}, p.Member(answerColumn+name), p.Member(judgeColumn+name)),
			}
			flat.pieces = append(flat.pieces, rows.Value{File: p.File, Line: p.Line, Node: row})
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
