package published

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"deem/internal/rows"
	"deem/internal/words"
)

const shapeHarness = "results of the Mem0 harness"

// isHarness reports whether a file is from the Mem0 harness, for any of its three
// benchmarks.
func isHarness(c *content) bool {
	return len(c.pieces) == 1 && c.pieces[0].Member("evaluations").Kind == rows.List &&
		slices.ContainsFunc(c.pieces[0].Member("evaluations").Vals, func(n rows.Node) bool { return n.Member("cutoff_results").Kind == rows.Object })
}

// readHarness reads one cutoff of a file of the Mem0 harness, by default the largest;
// --pick selects another. It leaves out a row without this cutoff if another row has the
// same id.
func (s *Set) readHarness(_ context.Context, src Source, c *content) error {
	file := c.pieces[0]
	evaluations := file.Member("evaluations").Vals
	var cutoffs []string
	for _, e := range evaluations {
		for _, name := range e.Member("cutoff_results").Keys {
			cutoffs = addNew(cutoffs, name)
		}
	}
	slices.SortStableFunc(cutoffs, natural)
	cutoff, err := s.choose(src.Pick, cutoffs[len(cutoffs)-1], "cutoff", cutoffs)
	if err != nil {
		return err
	}
	judged := map[string]bool{}
	for _, e := range evaluations {
		if e.Member("cutoff_results").Has(cutoff) {
			judged[e.Member("question_id").Str()] = true
		}
	}
	var found []rows.Row
	twice := 0
	for _, e := range evaluations {
		if !e.Member("cutoff_results").Has(cutoff) && judged[e.Member("question_id").Str()] {
			twice++
			continue
		}
		found = append(found, rows.Row{Node: harnessRow(e, cutoff)})
	}
	if twice > 0 {
		s.leave("%s left out because the same id stands in another row with a verdict", words.Count(twice, "row"))
		s.find(FoundTwice, "%s left out: the same id stands in another row with a verdict", words.Count(twice, "row"))
	}
	label := "score"
	if slices.ContainsFunc(found, func(r rows.Row) bool { return r.Has("judgment") }) {
		label = "judgment"
	}
	src.Pick = ""
	src.Map = Mapping{partLabel: label}
	l := layout{mapping: src.Map, words: vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}}
	l.decide(found)
	s.columnList = listFields(found)
	if err := s.readRows(src, found, l); err != nil {
		return err
	}
	if err := s.call(src, l, found); err != nil {
		return err
	}
	s.Shape = shapeHarness
	s.metaIn(file.Member("metadata"), 0)
	f := &claimFinder{set: s}
	f.object(file.Member("metrics_by_cutoff").Member(cutoff), "metrics_by_cutoff."+cutoff, measure{}, 0)
	s.noteNuggets(found)
	s.noteRerun(file.Member("metadata"), "metadata", 0)
	return nil
}

// answerPrefix precedes the answer in a reason, in files that have it nowhere else.
const answerPrefix = "Generated answer: "

// harnessRow makes one flat row from an evaluation and one of its cutoffs.
func harnessRow(e rows.Node, cutoff string) rows.Node {
	out := rows.Node{Kind: rows.Object}
	add := func(name string, v rows.Node) {
		if v.Kind != rows.Missing {
			out.Keys, out.Vals = append(out.Keys, name), append(out.Vals, v)
		}
	}
	for _, name := range []string{"question_id", "question", "ground_truth_answer", "question_type", "category", "category_name", "question_date"} {
		add(name, e.Member(name))
	}
	if v := e.Member("conversation_idx"); v.IsScalar() {
		name := v.Str()
		if size := e.Member("chat_size").Str(); size != "" {
			name = size + "/" + name
		}
		add("conversation_idx", rows.Node{Kind: rows.String, Text: name})
	}
	result := e.Member("cutoff_results").Member(cutoff)
	answer := result.Member("generated_answer")
	if text, ok := strings.CutPrefix(result.Member("reason").Str(), answerPrefix); ok && answer.Kind == rows.Missing {
		answer = rows.Node{Kind: rows.String, Text: text}
	}
	if result.Member("judgment").Str() != "ERROR" || !answer.Blank() { // There is no answer if the run was aborted.
		add("generated_answer", answer)
	}
	for _, name := range []string{"judgment", "score", "judge_raw", "nugget_scores"} {
		add(name, result.Member(name))
	}
	return out
}

// noteNuggets describes how the nuggets of BEAM were scored, and the mean if the scores of
// nuggets are truncated to whole numbers, as by the benchmark's own script.
func (s *Set) noteNuggets(found []rows.Row) {
	counts := map[string]int{}
	n, cut, most := 0, 0.0, 0.0
	for _, r := range found {
		nuggets := r.Member("nugget_scores").Vals
		if len(nuggets) == 0 {
			continue
		}
		n++
		all, whole := 0.0, 0.0
		for _, nugget := range nuggets {
			x, _ := nugget.Member("score").Float()
			counts[strconv.FormatFloat(x, 'f', -1, 64)]++
			all += x
			whole += float64(int(x))
		}
		cut += whole / float64(len(nuggets))
		if r.Member("question_type").Str() == "event_ordering" {
			whole = all
		}
		most += whole / float64(len(nuggets))
	}
	if n == 0 {
		return
	}
	s.Note("%d nuggets: %d scored 1, %d one half, %d 0; with scores cut to whole numbers, as the benchmark's own script does, the mean is %.4f with event ordering kept, %.4f without",
		counts["1"]+counts["0.5"]+counts["0"], counts["1"], counts["0.5"], counts["0"], most/float64(n), cut/float64(n))
}
