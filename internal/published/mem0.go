package published

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"deem/internal/words"
)

const shapeHarness = "results of the Mem0 harness"

// isHarness reports whether a file is from the Mem0 harness, for any of its three
// benchmarks.
func isHarness(c *content) bool {
	return len(c.pieces) == 1 && c.pieces[0].member("evaluations").kind == list &&
		slices.ContainsFunc(c.pieces[0].member("evaluations").vals, func(n node) bool { return n.member("cutoff_results").kind == object })
}

// readHarness reads one cutoff of a file of the Mem0 harness, by default the largest;
// --pick selects another. It leaves out a row without this cutoff if another row has the
// same id.
func (s *Set) readHarness(_ context.Context, src Source, c *content) error {
	file := c.pieces[0]
	evaluations := file.member("evaluations").vals
	var cutoffs []string
	for _, e := range evaluations {
		for _, name := range e.member("cutoff_results").keys {
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
		if e.member("cutoff_results").has(cutoff) {
			judged[e.member("question_id").str()] = true
		}
	}
	var rows []row
	twice := 0
	for _, e := range evaluations {
		if !e.member("cutoff_results").has(cutoff) && judged[e.member("question_id").str()] {
			twice++
			continue
		}
		rows = append(rows, row{node: harnessRow(e, cutoff)})
	}
	if twice > 0 {
		s.leave("%s left out because the same id stands in another row with a verdict", words.Count(twice, "row"))
		s.find(FoundTwice, "%s left out: the same id stands in another row with a verdict", words.Count(twice, "row"))
	}
	label := "score"
	if slices.ContainsFunc(rows, func(r row) bool { return r.has("judgment") }) {
		label = "judgment"
	}
	src.Pick = ""
	src.Map = Mapping{partLabel: label}
	l := layout{mapping: src.Map, words: vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}}
	l.decide(rows)
	s.columnList = listFields(rows)
	if err := s.readRows(src, rows, l); err != nil {
		return err
	}
	if err := s.call(src, l, rows); err != nil {
		return err
	}
	s.Shape = shapeHarness
	s.metaIn(file.member("metadata"), 0)
	f := &claimFinder{set: s, isRow: func(node) bool { return false }}
	f.object(file.member("metrics_by_cutoff").member(cutoff), "metrics_by_cutoff."+cutoff, "", 0)
	s.noteNuggets(rows)
	s.noteRerun(file.member("metadata"), "metadata", 0)
	return nil
}

// answerPrefix precedes the answer in a reason, in files that have it nowhere else.
const answerPrefix = "Generated answer: "

// harnessRow makes one flat row from an evaluation and one of its cutoffs.
func harnessRow(e node, cutoff string) node {
	out := node{kind: object}
	add := func(name string, v node) {
		if v.kind != missing {
			out.keys, out.vals = append(out.keys, name), append(out.vals, v)
		}
	}
	for _, name := range []string{"question_id", "question", "ground_truth_answer", "question_type", "category", "category_name", "question_date"} {
		add(name, e.member(name))
	}
	if v := e.member("conversation_idx"); v.isScalar() {
		name := v.str()
		if size := e.member("chat_size").str(); size != "" {
			name = size + "/" + name
		}
		add("conversation_idx", node{kind: str, text: name})
	}
	result := e.member("cutoff_results").member(cutoff)
	answer := result.member("generated_answer")
	if text, ok := strings.CutPrefix(result.member("reason").str(), answerPrefix); ok && answer.kind == missing {
		answer = node{kind: str, text: text}
	}
	if result.member("judgment").str() != "ERROR" || !answer.blank() { // There is no answer if the run was aborted.
		add("generated_answer", answer)
	}
	for _, name := range []string{"judgment", "score", "judge_raw", "nugget_scores"} {
		add(name, result.member(name))
	}
	return out
}

// noteNuggets describes how the nuggets of BEAM were scored, and the mean if the scores of
// nuggets are truncated to whole numbers, as by the benchmark's own script.
func (s *Set) noteNuggets(rows []row) {
	counts := map[string]int{}
	n, cut, most := 0, 0.0, 0.0
	for _, r := range rows {
		nuggets := r.member("nugget_scores").vals
		if len(nuggets) == 0 {
			continue
		}
		n++
		all, whole := 0.0, 0.0
		for _, nugget := range nuggets {
			x, _ := nugget.member("score").float()
			counts[strconv.FormatFloat(x, 'f', -1, 64)]++
			all += x
			whole += float64(int(x))
		}
		cut += whole / float64(len(nuggets))
		if r.member("question_type").str() == "event_ordering" {
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
