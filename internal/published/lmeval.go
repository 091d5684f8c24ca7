package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
)

// lmMetrics are the metrics in rows of lm-eval, in order of precedence.
var lmMetrics = []string{"exact_match", "acc", "acc_norm", "f1", "em", "rougeL", "rouge1", "bleu", "mcc", "score"}

const shapeLMEval = "samples of lm-eval"

func isLMEval(c *content) bool {
	first := c.pieces[0].Node
	return first.Has("doc_id") && (first.Has("resps") || first.Has("filtered_resps"))
}

// readLMEval reads the rows that lm-eval writes with --log_samples. Several filters of the
// same replies are several ways to parse them, and one is chosen.
func (s *Set) readLMEval(_ context.Context, src Source, c *content) error {
	pieces := c.pieces
	s.Shape = shapeLMEval
	var filters []string
	for _, p := range pieces {
		filters = addNew(filters, p.Member("filter").Str())
	}
	filter, err := s.choose(src.Pick, filters[0], "filter", filters)
	if err != nil {
		return err
	}
	metric := cmp.Or(src.Map[partLabel], lmMetric(pieces))
	if metric == "" {
		return deem.WithHint(fmt.Errorf("%s: rows of lm-eval without a number for each of them", pieces[0].File), "say which column holds it: --map label=COLUMN; the columns here are %s", listed(pieces[0].Keys))
	}
	words := vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}
	for _, p := range pieces {
		if p.Member("filter").Str() != filter {
			continue
		}
		doc := p.Member("doc")
		it := deem.Item{ID: p.Member("doc_id").Str(), Question: lmQuestion(p, doc), Response: lmResponse(p)}
		it.Category, it.References = valueByName(doc, partCategory).Str(), p.Member("target").Texts()
		o := words.read(p.Member(metric))
		rec := deem.Record{Position: len(s.items), Verdict: o.verdict, Failure: o.failure}
		s.items = append(s.items, it)
		aspects := map[string]float64{}
		for i, key := range p.Keys {
			if x, ok := p.Vals[i].Float(); ok && key != metric && slices.Contains(lmMetrics, key) {
				aspects[key] = x
			}
		}
		s.addAspects(&rec, aspects)
		s.records = append(s.records, rec)
	}
	s.Columns = []string{"id=doc_id", "references=target", "response=filtered_resps", "label=" + metric}
	s.Rule = "the score is the number in " + metric
	s.identity = map[string]string{"column": metric, "filter": filter}
	return nil
}

// lmMetric returns the metric of the rows: the one that they name, or a known one.
func lmMetric(pieces []rows.Value) string {
	first := pieces[0]
	var candidates []string
	for _, v := range first.Member("metrics").Vals {
		candidates = append(candidates, v.Str())
	}
	for _, name := range append(candidates, lmMetrics...) {
		if slices.ContainsFunc(pieces, func(p rows.Value) bool { v := p.Member(name); return v.Kind == rows.Number || v.Kind == rows.Bool }) {
			return name
		}
	}
	return ""
}

// lmQuestion returns the question of the document, or the prompt.
func lmQuestion(p rows.Value, doc rows.Node) string {
	if v := valueByName(doc, partQuestion); v.Kind != rows.Missing {
		return v.Str()
	}
	args := p.Member("arguments")
	for _, path := range []string{"gen_args_0.arg_0", "0.0", "0.arg_0"} {
		if v := args.At(path); v.Kind == rows.String {
			return v.Text
		}
	}
	return ""
}

// lmResponse returns the filtered reply: one text, or the choice with the largest
// likelihood if replies are numbers.
func lmResponse(p rows.Value) string {
	v := p.Member("filtered_resps")
	if v.Kind == rows.Missing {
		v = p.Member("resps")
	}
	for v.Kind == rows.List && len(v.Vals) == 1 {
		v = v.Vals[0]
	}
	if v.Kind != rows.List {
		return v.Str()
	}
	best, at := 0.0, -1
	for i, choice := range v.Vals {
		x, ok := choice.Index("0").Float()
		if !ok {
			return strings.TrimSpace(v.Str())
		}
		if at < 0 || x > best {
			best, at = x, i
		}
	}
	if text := p.At("doc.choices").Index(fmt.Sprint(at)); text.Kind == rows.String {
		return text.Text
	}
	return fmt.Sprint(at)
}
