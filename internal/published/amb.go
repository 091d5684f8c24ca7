package published

import (
	"context"
	"slices"

	"deem/internal/rows"
)

const shapeAMB = "LoCoMo results of Agent Memory Benchmark"

func isAMB(c *content) bool {
	file := c.pieces[0]
	return len(c.pieces) == 1 && file.Member("dataset").Text == loCoMo &&
		slices.ContainsFunc(file.Member("results").Vals, func(n rows.Node) bool { return n.Has("query_id") && n.Has("gold_answers") })
}

// ambCategories maps this program's names of LoCoMo's categories to their numbers. The
// paper calls 1 multi-hop, 3 open-domain and 4 single-hop.
var ambCategories = map[string]string{"single-hop": "1", "temporal": "2", "multi-hop": "3", "open-domain": "4", "adversarial": "5"}

// readAMB sets the category numbers of the rows, and reads them like other rows.
func (s *Set) readAMB(_ context.Context, src Source, c *content) error {
	file := c.pieces[0]
	found := rows.Node{Kind: rows.List}
	for _, r := range file.Member("results").Vals {
		name := r.At("meta.category")
		if category := ambCategories[name.Str()]; category != "" && r.Kind == rows.Object {
			r.Keys = append(slices.Clone(r.Keys), partCategory, "category_name")
			r.Vals = append(slices.Clone(r.Vals), rows.Node{Kind: rows.String, Text: category}, name)
		}
		found.Vals = append(found.Vals, r)
	}
	numbered := *c
	numbered.pieces = []rows.Value{{File: file.File, Line: file.Line, Node: rows.Node{Kind: rows.Object, Keys: file.Keys, Vals: slices.Clone(file.Vals)}}}
	numbered.pieces[0].Vals[slices.Index(file.Keys, "results")] = found
	err := s.readAny(src, &numbered)
	s.Shape = shapeAMB
	return err
}
