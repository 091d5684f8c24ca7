package published

import (
	"context"
	"slices"
)

const shapeAMB = "LoCoMo results of Agent Memory Benchmark"

func isAMB(c *content) bool {
	file := c.pieces[0]
	return len(c.pieces) == 1 && file.member("dataset").text == loCoMo &&
		slices.ContainsFunc(file.member("results").vals, func(n node) bool { return n.has("query_id") && n.has("gold_answers") })
}

// ambCategories maps this program's names of LoCoMo's categories to their numbers. The
// paper calls 1 multi-hop, 3 open-domain and 4 single-hop.
var ambCategories = map[string]string{"single-hop": "1", "temporal": "2", "multi-hop": "3", "open-domain": "4", "adversarial": "5"}

// readAMB sets the category numbers of the rows, and reads them like other rows.
func (s *Set) readAMB(_ context.Context, src Source, c *content) error {
	file := c.pieces[0]
	rows := node{kind: list}
	for _, r := range file.member("results").vals {
		name := r.at("meta.category")
		if category := ambCategories[name.str()]; category != "" && r.kind == object {
			r.keys = append(slices.Clone(r.keys), partCategory, "category_name")
			r.vals = append(slices.Clone(r.vals), node{kind: str, text: category}, name)
		}
		rows.vals = append(rows.vals, r)
	}
	numbered := *c
	numbered.pieces = []piece{{file: file.file, line: file.line, node: node{kind: object, keys: file.keys, vals: slices.Clone(file.vals)}}}
	numbered.pieces[0].vals[slices.Index(file.keys, "results")] = rows
	err := s.readAny(src, &numbered)
	s.Shape = shapeAMB
	return err
}
