package published

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/rows"
	"deem/internal/words"
)

// A shape is a form of results. To support another program, add a file of code and a line
// in the table.
type shape struct {
	name      string
	evidence  string // how it is recognised, for people
	recognise func(*content) bool
	read      func(*Set, context.Context, Source, *content) error
}

// shapes are in order of precedence.
var shapes = []shape{
	{shapeInspect, "an archive with header.json and samples/*.json, or an object with eval and samples", isInspect, (*Set).readInspect},
	{shapePromptfoo, "an object with results.results and results.stats", isPromptfoo, (*Set).readPromptfoo},
	{shapeLMEval, "rows with doc_id, and resps or filtered_resps", isLMEval, (*Set).readLMEval},
	{shapePairs, "rows with output_1, output_2, label, and results with swap = False and swap = True; a folder with statistics.json is checked against it", hasPairs, (*Set).readPairs},
	{shapePandaLM, "rows with response1, response2, and annotator1, annotator2 and so on, or columns that end in _result; --pick chooses one", hasPreferences, (*Set).readPreferences},
	{shapeEVOUNA, "rows with answer_NAME and judge_NAME for several systems; --pick chooses one, and --split / separates the references", isEVOUNA, (*Set).readEVOUNA},
	{shapeHaluMem, "an object with memory_integrity_records, memory_accuracy_records, memory_update_records or question_answering_records", isHaluMem, (*Set).readHaluMem},
	{shapeHaluMemIn, "rows with uuid and sessions, not judged yet", isHaluMemInput, (*Set).readHaluMemInput},
	{shapeHarness, "an object with evaluations, whose rows have cutoff_results (LoCoMo, LongMemEval and BEAM); the largest cutoff, unless --pick chooses", isHarness, (*Set).readHarness},
	{shapeBEAM, "an object with a list for each ability, whose rows have llm_judge_score and llm_judge_responses", isBEAM, (*Set).readBEAM},
	{shapeAMB, "an object with dataset = locomo and results, whose rows have query_id and gold_answers", isAMB, (*Set).readAMB},
}

// A rowShape is a name for rows that are read by their columns. verdict is the column of
// the verdict, "" for none; hypothesis means that there are the columns question_id and
// hypothesis.
type rowShape struct {
	name     string
	evidence string
	is       func(verdict, benchmark string, hypothesis, clustered bool) bool
}

// rowShapes are in order of precedence. The last one matches all rows.
var rowShapes = []rowShape{
	{"LongMemEval eval-results", "rows with question_id, hypothesis and autoeval_label", func(v, _ string, _, _ bool) bool { return strings.HasPrefix(v, "autoeval_label") }},
	{"LongMemEval hypotheses", "rows with question_id and hypothesis, and no verdict", func(v, _ string, hypothesis, _ bool) bool { return v == "" && hypothesis }},
	{"answers without verdicts", "rows with a question or an id and a response, and no verdict", func(v, _ string, _, _ bool) bool { return v == "" }},
	{"LoCoMo results of MemOS or EverMemOS", "rows with llm_judgments: several verdicts on an item, which are its trials", func(v, _ string, _, _ bool) bool { return v == "llm_judgments" }},
	{"rows with votes, as TrueMemory writes them", "rows with judge_votes: several verdicts on an item, which are its trials", func(v, _ string, _, _ bool) bool { return v == "judge_votes" }},
	{"LoCoMo results as Mem0 writes them", "rows with llm_score and a category from 1 to 5, by conversation (memobase too)", func(v, b string, _, _ bool) bool { return b == loCoMo && v == "llm_score" }},
	{"LoCoMo results of Zep", "rows with grade, by conversation", func(v, b string, _, clustered bool) bool { return v == "grade" && (b == loCoMo || clustered) }},
	{"LoCoMo results", "other rows with a verdict and a category from 1 to 5, by conversation", func(_, b string, _, _ bool) bool { return b == loCoMo }},
	{"LongMemEval results", "other rows with a verdict whose categories are all types of LongMemEval, and one of them is single-session-..., or the ids are of its form (gpt4_2655b836), or question_id is a column next to hypothesis or question_type", func(_, b string, _, _ bool) bool { return b == longMemEval }},
	{"rows with verdicts", "rows with a question or an id, a response, and one of: " + plainVerdicts(), func(_, _ string, _, _ bool) bool { return true }},
}

// A Shape describes a recognised form.
type Shape struct {
	Name string `json:"name"`
	By   string `json:"by"`
}

// Shapes returns the recognised forms, in order of precedence.
func Shapes() []Shape {
	var list []Shape
	for _, sh := range shapes {
		list = append(list, Shape{sh.name, sh.evidence})
	}
	for _, sh := range rowShapes {
		list = append(list, Shape{sh.name, sh.evidence})
	}
	return list
}

// plainVerdicts names the columns without dots.
func plainVerdicts() string {
	var list []string
	for _, c := range rows.Verdicts() {
		if !strings.Contains(c.Path, ".") {
			list = append(list, c.Path)
		}
	}
	return strings.Join(list, ", ")
}

// readAny reads rows by the names of their columns.
func (s *Set) readAny(src Source, c *content) error {
	l := layout{mapping: src.Map, words: vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}}
	found := l.finder().Find(c.pieces)
	if len(found.Rows) == 0 {
		list := found.Opaque
		for _, p := range c.pieces {
			if len(found.Opaque) == 0 {
				list = append(list, innermost(p.Node, 0)...)
			}
		}
		return s.unknown(src, c, list)
	}
	s.LeftOut = append(s.LeftOut, found.LeftOut...)
	if err := s.pickSection(&src, &found); err != nil {
		return err
	}
	l.decide(found.Rows)
	s.columnList = listFields(found.Rows)
	if l.verdict.Path == "" && len(l.columns[partResponse]) == 0 {
		return s.unknown(src, c, found.Rows)
	}
	if path, ok := src.Map[partLabel]; ok && !slices.ContainsFunc(found.Rows, func(r rows.Row) bool { return r.At(path).Kind != rows.Missing }) {
		return deem.WithHint(fmt.Errorf("no row has a value in %q, which --map says holds the verdict", path), "the columns here are: %s", listed(found.Rows[0].Keys))
	}
	if err := s.readRows(src, found.Rows, l); err != nil {
		return err
	}
	if err := s.call(src, l, found.Rows); err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(found.Rest)) {
		s.metaIn(found.Rest[i], 0)
		s.noteRerun(found.Rest[i], "", 0)
	}
	s.claimsIn(found.Rest)
	return nil
}

// pickSection selects one of several lists that answer the same questions differently: they
// are the answers of several systems, or several runs of one. They are taken together if the
// user says so, or if the file states that many rows.
func (s *Set) pickSection(src *Source, found *rows.Found) error {
	if len(found.Rivals) == 0 {
		return nil
	}
	together := src.Pick == All
	for _, n := range found.Rest {
		together = together || statedSize(n) == len(found.Rows)
		for i, key := range n.Keys {
			together = together || isSummary(key) && statedSize(n.Vals[i]) == len(found.Rows)
		}
	}
	switch {
	case slices.Contains(found.Rivals, src.Pick):
		all := len(found.Rows)
		found.Rows = slices.DeleteFunc(found.Rows, func(r rows.Row) bool { return !r.In(src.Pick) })
		s.leave("%s of other lists left out", words.Count(all-len(found.Rows), "row"))
	case src.Pick != "" && src.Pick != All:
		return nil // a system, by its column
	case !together:
		return deem.WithHint(&SeveralError{Systems: found.Rivals, text: fmt.Sprintf("%s has several lists of answers to the same questions: %s", strings.Join(s.names, ", "), listed(found.Rivals))},
			"choose one: --pick %s; take each by itself: --pick each; or count all rows together: --pick %s", found.Rivals[0], All)
	}
	src.Pick = ""
	return nil
}

// call decides the name and the benchmark of the rows. A form that only the scripts of
// LongMemEval write needs no other evidence.
func (s *Set) call(src Source, l layout, found []rows.Row) error {
	hypothesis := found[0].Has("hypothesis") && found[0].Has("question_id")
	path := l.verdict.Path
	written := strings.HasPrefix(path, "autoeval_label") || path == "" && hypothesis
	if src.Benchmark == "" && written {
		src.Benchmark = longMemEval
	}
	var err error
	if s.Benchmark, err = s.benchmarkOf(src, hypothesis || found[0].Has("question_id") && found[0].Has("question_type")); err != nil {
		return err
	}
	s.Shape = rowShapes[slices.IndexFunc(rowShapes, func(sh rowShape) bool { return sh.is(path, s.Benchmark, hypothesis, s.items[0].Cluster != "") })].name
	switch {
	case s.Benchmark == loCoMo:
		called := map[string]string{}
		var list []string
		for i, r := range found {
			name, category := r.Member("category_name"), s.items[min(i, len(s.items)-1)].Category
			if name.Kind == rows.String && called[category] == "" && len(found) == len(s.items) {
				called[category] = name.Text
				list = append(list, category+" "+name.Text)
			}
		}
		if len(list) > 0 {
			slices.Sort(list)
			s.categoryNames = called
			s.notes = append(s.notes, "categories are known by their numbers; this file calls them "+strings.Join(list, ", ")+", and others give these names to other numbers")
		}
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
	case s.Benchmark == longMemEval && len(s.items) != lmeQuestions:
		s.notes = append(s.notes, fmt.Sprintf("%s, and LongMemEval has %d questions: scores are of what is here", words.Count(len(s.items), "row"), lmeQuestions))
	}
	return nil
}

// The benchmarks that rows can belong to.
const (
	longMemEval = "longmemeval"
	loCoMo      = "locomo"

	// NoBenchmark means that rows belong to none.
	NoBenchmark = "none"
)

// Benchmarks returns the valid values of [Source.Benchmark].
func Benchmarks() []string { return []string{longMemEval, loCoMo, NoBenchmark} }

// The number of questions in LongMemEval.
const lmeQuestions = 500

// lmeTypes are the types of its questions, and whether other datasets are unlikely to use
// the same word. Many have a category knowledge-update.
var lmeTypes = map[string]bool{
	"single-session-user": true, "single-session-assistant": true, "single-session-preference": true,
	"multi-session": false, "temporal-reasoning": false, "knowledge-update": false,
}

// lmeID matches ids of its questions: eight characters, nearly all of them hexadecimal, for
// example gpt4_2655b836 and 0a995998_abs.
var lmeID = regexp.MustCompile(`^(gpt4_)?[0-9a-f]{6}[0-9a-z]{2}(_[0-9a-z]{1,8})*$`)

// isLoCoMo reports whether all categories are those of LoCoMo, and the questions are about
// conversations.
func (s *Set) isLoCoMo() bool {
	for _, it := range s.items {
		if it.Cluster == "" && !strings.HasPrefix(it.ID, "locomo_") || !slices.Contains([]string{"1", "2", "3", "4", "5"}, it.Category) {
			return false
		}
	}
	return len(s.items) > 0
}

// benchmarkOf returns the benchmark of rows: the one named by the user, or the detected
// one. columns reports that they have columns of LongMemEval's own files.
//
// Rows belong to LongMemEval if all of their categories are types of its questions, and one
// of them is a type that only it has, or all ids have its form, or the columns are those of
// its own files. If the evidence is not sufficient, an error asks the user.
func (s *Set) benchmarkOf(src Source, columns bool) (string, error) {
	switch src.Benchmark {
	case "":
	case NoBenchmark:
		return "", nil
	case loCoMo:
		if !s.isLoCoMo() {
			return "", deem.WithHint(fmt.Errorf("%s: these are not results of LoCoMo: its categories are the numbers from 1 to 5, and each question belongs to a conversation", strings.Join(s.names, ", ")),
				"--map category=COLUMN,cluster=COLUMN says which columns hold them")
		}
		return loCoMo, nil
	default:
		return src.Benchmark, nil
	}
	if s.isLoCoMo() {
		return loCoMo, nil
	}
	its, only, ids := 0, false, true
	found := map[string]bool{}
	for _, it := range s.items {
		unique, ok := lmeTypes[it.Category]
		if ok {
			its++
			found[it.Category] = true
		}
		only, ids = only || unique, ids && lmeID.MatchString(it.ID)
	}
	all := its == len(s.items) && its > 0
	names := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
	var why string
	switch {
	case all && (only || ids || columns):
		return longMemEval, nil
	case all:
		why = fmt.Sprintf("all categories are types of its questions (%s), but neither ids nor columns are its own", names)
	case only:
		why = fmt.Sprintf("some categories are types that only it has (%s), but %s of %s have others", names, words.Count(len(s.items)-its, "row"), words.Count(len(s.items), "row"))
	default:
		return "", nil
	}
	return "", deem.WithHint(fmt.Errorf("%s: are these results of LongMemEval? %s", strings.Join(s.names, ", "), why),
		"if they are: --benchmark %s; if they are not: --benchmark %s", longMemEval, NoBenchmark)
}

// The results of a public audit of LoCoMo's answer key.
const (
	loCoMoQuestions = 1540 // without category 5
	loCoMoFaults    = 99   // references that make a right answer count as wrong
)

// unknown describes a file whose rows are not recognised: its columns with an example each.
// If a column looks like one with verdicts, and the rows are found with it, it suggests it.
func (s *Set) unknown(src Source, c *content, found []rows.Row) error {
	err := fmt.Errorf("%s: no results are recognised in it (columns here: %s)", strings.Join(s.names, ", "), cmp.Or(listFields(found), "none"))
	if slices.ContainsFunc(c.pieces, func(p rows.Value) bool { return p.Has("all_classes") }) {
		return deem.WithHint(err, "these are predictions on LongBench, which a rule judges: deem run longbench --data FOLDER")
	}
	for _, f := range fieldsOf(found) {
		l := layout{mapping: maps.Clone(src.Map), words: vocabulary{yes: src.Yes, no: src.No, scale: src.Scale}}
		if l.mapping == nil {
			l.mapping = Mapping{}
		}
		l.mapping[partLabel] = f.path
		looks := slices.ContainsFunc([]string{"score", "correct", "label", "verdict", "judg", "grade", "pass", "acceptable"}, func(word string) bool { return strings.Contains(rows.Letters(f.path), word) })
		if looks && l.holdsVerdicts(rows.Verdict{Path: f.path}, found) && len(l.finder().Find(c.pieces).Rows) == len(found) {
			return deem.WithHint(err, "%s looks like the verdict, and then there are %s: --map %s=%s", f.path, words.Count(len(found), "row"), partLabel, f.path)
		}
	}
	return deem.WithHint(err, "--map question=COLUMN,references=COLUMN,response=COLUMN,label=COLUMN says what the columns hold; deem list formats names those that are known")
}

func innermost(n rows.Node, depth int) []rows.Row {
	var found []rows.Row
	if depth <= deepestClaim {
		for _, v := range n.Vals {
			if v.Kind == rows.Object || v.Kind == rows.List {
				if inner := innermost(v, depth+1); len(inner) > len(found) {
					found = inner
				}
			}
		}
	}
	if n.Kind == rows.List {
		var here []rows.Row
		for _, v := range n.Vals {
			if v.Kind == rows.Object {
				here = append(here, rows.Row{Node: v})
			}
		}
		if len(here) >= len(found) {
			return here
		}
	}
	if len(found) == 0 && n.Kind == rows.Object {
		return []rows.Row{{Node: n}}
	}
	return found
}

// metaIn looks for the models in a value next to the rows.
func (s *Set) metaIn(n rows.Node, depth int) {
	if n.Kind != rows.Object || depth > 3 {
		return
	}
	for i, key := range n.Keys {
		v := n.Vals[i]
		switch {
		case v.Kind == rows.Object:
			s.metaIn(v, depth+1)
		case v.Kind != rows.String:
		case (key == "judge_model" || key == "judge_llm") && s.JudgeModel == "":
			s.JudgeModel = v.Text
		case slices.Contains([]string{"answer_model", "answerer_model", "answer_llm"}, key) && s.SystemModel == "":
			s.SystemModel = v.Text
		case (key == "judge_prompt" || key == "judge_prompt_template") && s.judgePrompt == "":
			sum := sha256.Sum256([]byte(v.Text))
			s.judgePrompt = hex.EncodeToString(sum[:])
		}
	}
}
