package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"deem"
)

// lmMetrics are the metrics in rows of lm-eval, in order of precedence.
var lmMetrics = []string{"exact_match", "acc", "acc_norm", "f1", "em", "rougeL", "rouge1", "bleu", "mcc", "score"}

const shapeLMEval = "samples of lm-eval"

func isLMEval(c *content) bool {
	first := c.pieces[0].node
	return first.has("doc_id") && (first.has("resps") || first.has("filtered_resps"))
}

// readLMEval reads the rows that lm-eval writes with --log_samples. Several filters of the
// same replies are several ways to parse them, and one is chosen.
func (s *Set) readLMEval(_ context.Context, src Source, c *content) error {
	pieces := c.pieces
	s.Shape = shapeLMEval
	var filters []string
	for _, p := range pieces {
		filters = addNew(filters, p.member("filter").str())
	}
	filter, err := s.choose(src.Pick, filters[0], "filter", filters)
	if err != nil {
		return err
	}
	metric := cmp.Or(src.Map[partLabel], lmMetric(pieces))
	if metric == "" {
		return deem.WithHint(fmt.Errorf("%s: rows of lm-eval without a number for each of them", pieces[0].file), "say which column holds it: --map label=COLUMN; the columns here are %s", listed(pieces[0].keys))
	}
	words := vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}
	for _, p := range pieces {
		if p.member("filter").str() != filter {
			continue
		}
		doc := p.member("doc")
		it := deem.Item{ID: p.member("doc_id").str(), Question: lmQuestion(p, doc), Response: lmResponse(p)}
		it.Category, it.References = valueByName(doc, partCategory).str(), p.member("target").texts()
		o := words.read(p.member(metric))
		rec := deem.Record{Position: len(s.items), Verdict: o.verdict, Failure: o.failure}
		s.items = append(s.items, it)
		aspects := map[string]float64{}
		for i, key := range p.keys {
			if x, ok := p.vals[i].float(); ok && key != metric && slices.Contains(lmMetrics, key) {
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
func lmMetric(pieces []piece) string {
	first := pieces[0]
	var candidates []string
	for _, v := range first.member("metrics").vals {
		candidates = append(candidates, v.str())
	}
	for _, name := range append(candidates, lmMetrics...) {
		if slices.ContainsFunc(pieces, func(p piece) bool { v := p.member(name); return v.kind == number || v.kind == boolean }) {
			return name
		}
	}
	return ""
}

// lmQuestion returns the question of the document, or the prompt.
func lmQuestion(p piece, doc node) string {
	if v := valueByName(doc, partQuestion); v.kind != missing {
		return v.str()
	}
	args := p.member("arguments")
	for _, path := range []string{"gen_args_0.arg_0", "0.0", "0.arg_0"} {
		if v := args.at(path); v.kind == str {
			return v.text
		}
	}
	return ""
}

// lmResponse returns the filtered reply: one text, or the choice with the largest
// likelihood if replies are numbers.
func lmResponse(p piece) string {
	v := p.member("filtered_resps")
	if v.kind == missing {
		v = p.member("resps")
	}
	for v.kind == list && len(v.vals) == 1 {
		v = v.vals[0]
	}
	if v.kind != list {
		return v.str()
	}
	best, at := 0.0, -1
	for i, choice := range v.vals {
		x, ok := choice.named("0").float()
		if !ok {
			return strings.TrimSpace(v.str())
		}
		if at < 0 || x > best {
			best, at = x, i
		}
	}
	if text := p.at("doc.choices").named(fmt.Sprint(at)); text.kind == str {
		return text.text
	}
	return fmt.Sprint(at)
}
