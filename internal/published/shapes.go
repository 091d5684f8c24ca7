package published

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"deem"
)

// A shape is a form of results. To read the file of another program takes a file of code
// and a line in the table.
type shape struct {
	name      string
	evidence  string // what it is recognised by, for people
	recognise func(*content) bool
	read      func(context.Context, *Set, Source, *content) error
}

// shapes are in the order in which they are looked for.
var shapes = []shape{
	{
		shapeInspect, "an archive with header.json and samples/*.json, or an object with eval and samples",
		func(c *content) bool {
			first := c.pieces[0].node
			return c.zipped || len(c.pieces) == 1 && first.member("eval").kind == object && first.has("samples")
		},
		func(_ context.Context, s *Set, src Source, c *content) error {
			if c.zipped {
				return s.readInspect(src, c.pieces[0].node, c.pieces[1:])
			}
			return s.readInspect(src, c.pieces[0].node, piecesOf(c.pieces[0], "samples"))
		},
	},
	{
		shapePromptfoo, "an object with results.results and results.stats",
		func(c *content) bool {
			first := c.pieces[0].node
			return len(c.pieces) == 1 && first.at("results.results").kind == list && first.at("results.stats").kind == object
		},
		func(_ context.Context, s *Set, src Source, c *content) error {
			return s.readPromptfoo(src, c.pieces[0])
		},
	},
	{
		shapeLMEval, "rows with doc_id, and resps or filtered_resps",
		func(c *content) bool {
			first := c.pieces[0].node
			return first.has("doc_id") && (first.has("resps") || first.has("filtered_resps"))
		},
		func(_ context.Context, s *Set, src Source, c *content) error { return s.readLMEval(src, c.pieces) },
	},
	{
		shapePairs, "rows with output_1, output_2, label, and results with swap = False and swap = True",
		func(c *content) bool { return slices.ContainsFunc(c.pieces, isPair) },
		func(_ context.Context, s *Set, _ Source, c *content) error { return s.readPairs(c.pieces) },
	},
	{
		shapeHaluMem, "an object with memory_integrity_records, memory_accuracy_records, memory_update_records or question_answering_records",
		func(c *content) bool { return slices.ContainsFunc(haluMemLists, c.pieces[0].has) },
		func(ctx context.Context, s *Set, _ Source, c *content) error { return s.readHaluMem(ctx, c) },
	},
	{
		shapeHaluMemIn, "rows with uuid and sessions",
		func(c *content) bool { return c.pieces[0].has("uuid") && c.pieces[0].member("sessions").kind == list },
		func(ctx context.Context, s *Set, _ Source, c *content) error { return s.readHaluMemInput(ctx, c) },
	},
	{
		shapeHarness, "an object with evaluations, whose rows have cutoff_results (LoCoMo, LongMemEval and BEAM); --pick chooses a cutoff",
		isHarness,
		func(_ context.Context, s *Set, src Source, c *content) error { return s.readHarness(src, c) },
	},
	{
		shapeBEAM, "an object with a list for each ability, whose rows have llm_judge_score and llm_judge_responses",
		isBEAM,
		func(_ context.Context, s *Set, _ Source, c *content) error { return s.readBEAM(c) },
	},
}

// The names of shapes that code tells apart.
const (
	shapeInspect     = "log of inspect"
	shapePromptfoo   = "results of promptfoo"
	shapeLMEval      = "samples of lm-eval"
	shapePairs       = "pairs judged in both orders, as LLMBar writes them"
	shapeHaluMem     = "judged results of HaluMem"
	shapeHaluMemIn   = "HaluMem evaluation input"
	shapeLongMemEval = "LongMemEval eval-results"
	shapeHypotheses  = "LongMemEval hypotheses"
	shapeMemOS       = "LoCoMo results of MemOS or EverMemOS"
	shapeMem0        = "LoCoMo results as Mem0 writes them"
	shapeZep         = "LoCoMo results of Zep"
	shapeLoCoMo      = "LoCoMo results"
	shapeLME         = "LongMemEval results"
	shapeAnswers     = "answers without verdicts"
	shapePlain       = "rows with verdicts"
)

// A Shape says what is recognised, and by what.
type Shape struct {
	Name string `json:"name"`
	By   string `json:"by"`
}

// Shapes returns what is recognised, in the order in which it is looked for.
func Shapes() []Shape {
	var list []Shape
	for _, sh := range shapes {
		list = append(list, Shape{sh.name, sh.evidence})
	}
	return append(list, []Shape{
		{shapeLongMemEval, "rows with question_id, hypothesis and autoeval_label"},
		{shapeHypotheses, "rows with question_id and hypothesis, and no verdict"},
		{shapeMemOS, "rows with llm_judgments"},
		{shapeMem0, "rows with llm_score and a category from 1 to 5, by conversation (memobase too)"},
		{shapeZep, "rows with grade, by conversation"},
		{shapeLoCoMo, "other rows with a verdict and a category from 1 to 5, by conversation"},
		{shapeLME, "other rows with a verdict whose categories are all types of LongMemEval, and one of them is single-session-..., or the ids are of its form, or question_id is a column beside hypothesis or question_type"},
		{shapePlain, "rows with a question or an id, a response, and one of: " + plainVerdicts()},
	}...)
}

// plainVerdicts names the columns that need no dots.
func plainVerdicts() string {
	var list []string
	for _, c := range verdictColumns {
		if !strings.Contains(c.path, ".") {
			list = append(list, c.path)
		}
	}
	return strings.Join(list, ", ")
}

// recognise finds out what the files are and reads them.
func (s *Set) recognise(ctx context.Context, src Source, c *content) error {
	if len(c.pieces) == 0 {
		return fmt.Errorf("%s: there is nothing in it", strings.Join(s.names, ", "))
	}
	for _, sh := range shapes {
		if sh.recognise(c) {
			return sh.read(ctx, s, src, c)
		}
	}
	return s.readAny(src, c)
}

// piecesOf returns the elements of a list as pieces.
func piecesOf(p piece, member string) []piece {
	var list []piece
	for i, v := range p.member(member).vals {
		list = append(list, piece{file: fmt.Sprintf("%s (%s[%d])", p.file, member, i), line: p.line, node: v})
	}
	return list
}

// readAny reads rows whose columns say what they hold.
func (s *Set) readAny(src Source, c *content) error {
	l := layout{mapping: src.Map, words: vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}}
	w := &walker{isRow: l.isRow}
	w.walk(c.pieces)
	if len(w.rows) == 0 {
		return s.unknown(c, objectsIn(c.pieces))
	}
	l.decide(w.rows)
	s.columnList = listFields(w.rows)
	if l.verdict.path == "" && len(l.columns[partResponse]) == 0 {
		return s.unknown(c, w.rows)
	}
	if path, ok := src.Map[partLabel]; ok && !slices.ContainsFunc(w.rows, func(r row) bool { return r.at(path).kind != missing }) {
		return deem.WithHint(fmt.Errorf("no row has a value in %q, which --map says holds the verdict", path), "the columns here are: %s", listed(w.rows[0].keys))
	}
	if err := s.readRows(src, w.rows, l); err != nil {
		return err
	}
	if err := s.call(src, l, w.rows); err != nil {
		return err
	}
	s.readMeta(w.rest)
	for _, n := range w.rest {
		s.noteRerun(n, "", 0)
	}
	s.Claims = s.claimsIn(w)
	return nil
}

// call decides what the rows are called and which benchmark they are of. What only the
// scripts of LongMemEval write needs no other sign.
func (s *Set) call(src Source, l layout, rows []row) error {
	hypothesis := rows[0].has("hypothesis") && rows[0].has("question_id")
	path := l.verdict.path
	written := strings.HasPrefix(path, "autoeval_label") || path == "" && hypothesis
	if src.Benchmark == "" && written {
		src.Benchmark = longMemEval
	}
	var err error
	if s.Benchmark, err = s.benchmarkOf(src, hypothesis || rows[0].has("question_id") && rows[0].has("question_type")); err != nil {
		return err
	}
	s.Shape = shapeOf(path, s.Benchmark, hypothesis, s.items[0].Cluster != "")
	switch {
	case s.Benchmark == loCoMo:
		s.noteCategoryNames(rows)
		s.noteCeiling()
	case s.Benchmark == longMemEval && len(s.items) != lmeQuestions:
		s.notes = append(s.notes, fmt.Sprintf("%s, and LongMemEval has %d questions: scores are of what is here", countedRows(len(s.items)), lmeQuestions))
	}
	return nil
}

// shapeOf returns what rows are called whose verdict stands in a column.
func shapeOf(path, benchmark string, hypothesis, clustered bool) string {
	switch {
	case strings.HasPrefix(path, "autoeval_label"):
		return shapeLongMemEval
	case path == "" && hypothesis:
		return shapeHypotheses
	case path == "":
		return shapeAnswers
	case path == "llm_judgments":
		return shapeMemOS
	case benchmark == loCoMo && path == "llm_score":
		return shapeMem0
	case path == "grade" && (benchmark == loCoMo || clustered):
		return shapeZep
	case benchmark == loCoMo:
		return shapeLoCoMo
	case benchmark == longMemEval:
		return shapeLME
	}
	return shapePlain
}

// What a public audit of LoCoMo's answer key found.
const (
	loCoMoQuestions = 1540 // without category 5
	loCoMoFaults    = 99   // references that make a right answer count as wrong
)

// noteCeiling says how high a system can score that is always right, where all questions
// of LoCoMo are there.
func (s *Set) noteCeiling() {
	n := 0
	for _, it := range s.items {
		if it.Category != "5" {
			n++
		}
	}
	if n == loCoMoQuestions {
		s.Note("label ceiling: a public audit found %d of the %d references faulty, which leaves %.2f%% to a system that is always right",
			loCoMoFaults, loCoMoQuestions, 100*float64(loCoMoQuestions-loCoMoFaults)/loCoMoQuestions)
	}
}

// noteCategoryNames says what the file calls the categories, because different people
// give the same names to different ones.
func (s *Set) noteCategoryNames(rows []row) {
	called := map[string]string{}
	var list []string
	for i, r := range rows {
		name, category := r.member("category_name"), s.items[min(i, len(s.items)-1)].Category
		if name.kind == str && called[category] == "" && len(rows) == len(s.items) {
			called[category] = name.text
			list = append(list, category+" "+name.text)
		}
	}
	if len(list) > 0 {
		slices.Sort(list)
		s.categoryNames = called
		s.notes = append(s.notes, "categories are known by their numbers; this file calls them "+strings.Join(list, ", ")+", and others give these names to other numbers")
	}
}

// unknown says what is in a file whose rows are not recognised: its columns with an
// example each. It proposes no mapping, because no column is known to hold anything.
func (s *Set) unknown(c *content, rows []row) error {
	err := fmt.Errorf("%s: no results are recognised in it (columns here: %s)", strings.Join(s.names, ", "), cmp.Or(listFields(rows), "none"))
	if slices.ContainsFunc(c.pieces, func(p piece) bool { return p.has("all_classes") }) {
		return deem.WithHint(err, "these are predictions on LongBench, which a rule judges: deem run longbench --data FOLDER")
	}
	return deem.WithHint(err, "--map question=COLUMN,references=COLUMN,response=COLUMN,label=COLUMN says what the columns hold; deem list formats names those that are known")
}

// objectsIn returns the objects that may be rows: those in the deepest list that there
// is, or the pieces of the file.
func objectsIn(pieces []piece) []row {
	var list []row
	for _, p := range pieces {
		list = append(list, innermost(p.node, 0)...)
	}
	return list
}

func innermost(n node, depth int) []row {
	var found []row
	if depth <= deepestRow {
		for _, v := range n.vals {
			if v.kind == object || v.kind == list {
				if inner := innermost(v, depth+1); len(inner) > len(found) {
					found = inner
				}
			}
		}
	}
	if n.kind == list {
		var here []row
		for _, v := range n.vals {
			if v.kind == object {
				here = append(here, row{node: v})
			}
		}
		if len(here) >= len(found) {
			return here
		}
	}
	if len(found) == 0 && n.kind == object {
		return []row{{node: n}}
	}
	return found
}

// readMeta looks for the models in what stands beside the rows.
func (s *Set) readMeta(rest []node) {
	for _, n := range rest {
		s.metaIn(n, 0)
	}
}

func (s *Set) metaIn(n node, depth int) {
	if n.kind != object || depth > 3 {
		return
	}
	for i, key := range n.keys {
		v := n.vals[i]
		switch {
		case v.kind == object:
			s.metaIn(v, depth+1)
		case v.kind != str:
		case (key == "judge_model" || key == "judge_llm") && s.JudgeModel == "":
			s.JudgeModel = v.text
		case slices.Contains([]string{"answer_model", "answerer_model", "answer_llm"}, key) && s.SystemModel == "":
			s.SystemModel = v.text
		case (key == "judge_prompt" || key == "judge_prompt_template") && s.judgePrompt == "":
			sum := sha256.Sum256([]byte(v.text))
			s.judgePrompt = hex.EncodeToString(sum[:])
		}
	}
}
