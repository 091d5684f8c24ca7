package published

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/text"
)

// A Mapping says which column holds which part, by name or by a dotted path.
type Mapping map[string]string

// The parts of a row.
const (
	partID         = "id"
	partCategory   = "category"
	partCluster    = "cluster"
	partQuestion   = "question"
	partReferences = "references"
	partResponse   = "response"
	partLabel      = "label"
	partReason     = "reason"
	partReply      = "reply"
	partModel      = "judge_model"
	partSystem     = "system"
	partTruth      = "truth"
)

// Parts returns the parts of a row that a [Mapping] may name: those of an item, the
// recorded verdict (label, which may be a score), the judge's reason, its whole reply
// and its model, the system that gave the response, and the truth: what people, or a
// judge that is trusted more, said of the same response.
func Parts() []string {
	return []string{
		partID, partCategory, partCluster, partQuestion, partReferences, partResponse,
		partLabel, partReason, partReply, partModel, partSystem, partTruth,
	}
}

// check refuses a mapping of parts that there are none of.
func (m Mapping) check() error {
	for _, part := range slices.Sorted(maps.Keys(m)) {
		switch {
		case m[part] == "":
			return fmt.Errorf("the mapping says %s= and names no column", part)
		case slices.Contains(Parts(), part):
		default:
			err := fmt.Errorf("a row of results has no part %q", part)
			if near := text.Closest(part, Parts()); near != "" {
				return deem.WithHint(err, "did you mean %q?", near)
			}
			return deem.WithHint(err, "there are: %s", strings.Join(Parts(), ", "))
		}
	}
	return nil
}

// names are the columns in which a part is looked for, the more telling first.
var names = map[string][]string{
	partID:       {"question_id", "id", "qa_id", "qid", "prompt_id", "item_id", "_id", "uid", "uuid"},
	partCategory: {"category", "question_type", "type", "dim", "task"},
	partCluster: {
		"sample_id", "conversation_id", "conversationId", "conversation", "conv", "conv_id", "conv_index",
		"conversation_index", "user_id", "group_id", "cluster",
	},
	partQuestion: {"question", "q", "query", "Question", "input", "prompt"},
	partReferences: {
		"references", "golden_answer", "gold_answer", "goldAnswer", "golden_answers", "expected_answer", "expectedAnswer",
		"expected_output", "ground_truth", "reference", "gold", "expect", "expected", "target", "answers",
	},
	partResponse: {
		"response", "hypothesis", "generated_answer", "generatedAnswer", "model_answer", "system_answer", "predicted_answer",
		"prediction", "pred", "system_response", "actual_output", "model_output", "output", "reply", "completion",
	},
	partReason: {
		"reason", "judge_reason", "judge_reasoning", "evaluationReasoning", "reasoning", "explanation", "rationale", "justification",
	},
	partReply: {
		"judge_raw", "raw_reply", "judge_raw_reply", "judge_reply", "judge_response", "judge_output", "raw_judgment",
		"raw_judgement", "llm_judge_raw", "evaluationReasoning",
	},
	partModel:  {"judge_model", "autoeval_label.model"},
	partSystem: {"system", "run", "model"},
}

// either is the column that holds the reference, unless a reference stands beside it
// and no response does: Zep and MemOS call the response answer.
const either = "answer"

// numbered are references in columns of their own: Best_Answer1, Best_Answer2.
var numbered = regexp.MustCompile(`(?i)^(best[_ ]?answer|reference|gold(en)?_answer|answer)_?[0-9]+$`)

// A verdictColumn is a place where files keep what their own judge said.
type verdictColumn struct {
	path     string
	inverted bool // true means that the response is bad
	rule     bool // a number that a formula gives, taken only where no judge said anything
	reply    bool // what stands there is the judge's reply itself
	several  bool // what stands there is the verdicts of several trials, by name
}

// verdictColumns are in the order in which they are looked for.
var verdictColumns = []verdictColumn{
	{path: "autoeval_label.label"},
	{path: "autoeval_label"},
	{path: "llm_judgments", several: true},
	{path: "llm_score"},
	{path: "grade"},
	{path: "evaluationResult"},
	{path: "judge_label"},
	{path: "judge_labels", several: true},
	{path: "judgment"},
	{path: "judgement"},
	{path: "verdict"},
	{path: "judge_verdict"},
	{path: "llm_judge"},
	{path: "judge_correct"},
	{path: "is_correct"},
	{path: "correct"},
	{path: "judge.pass"},
	{path: "judge.correct"},
	{path: "judge.label"},
	{path: "judge.verdict"},
	{path: "judge.score"},
	{path: "judge"},
	{path: "evaluation.label"},
	{path: "evaluation.correct"},
	{path: "evaluation.judge"},
	{path: "evaluation", reply: true},
	{path: "label"},
	{path: "passed"},
	{path: "pass"},
	{path: "success"},
	{path: "is_hallucination", inverted: true},
	{path: "hallucinated", inverted: true},
	{path: "judge_score"},
	{path: "llm_judge_score"},
	{path: "metrics.correctness.score"},
	{path: "metrics.humaneval.score"},
	{path: "metrics.llm_judge.score"},
	{path: "human_label"},
	{path: "human_score"},
	{path: "score"},
	{path: "rating"},
	{path: "metrics.f1", rule: true},
	{path: "metrics.f1.score", rule: true},
	{path: "evaluation.f1", rule: true},
	{path: "f1_score", rule: true},
	{path: "f1", rule: true},
	{path: "metrics.exact_match", rule: true},
	{path: "exact_match", rule: true},
	{path: "em", rule: true},
}

// aspectName matches the columns of numbers that formulas give.
var aspectName = regexp.MustCompile(`(?i)^(f1|bleu|rouge|em$|exact_match|precision|recall|meteor|bert|sbert|chrf)`)

// containers are keys under which files keep their rows and that name no conversation.
var containers = []string{
	"qa", "results", "individual_results", "detailed_results", "conversations", "data", "items", "questions", "rows",
	"answers", "responses", "predictions", "samples", "evaluations", "per_question", "per_item", "details", "records", "labels",
	"qa_results", "eval_results", "all_results", "entries",
}

// A layout says where the parts of the rows of one file are.
type layout struct {
	mapping Mapping
	answer  string // what the column "answer" holds: partReferences or partResponse
	verdict verdictColumn
	others  []string // further columns in which a judge said something
	words   vocabulary
}

// value returns the first of the columns of a part that has a value in this row.
func (l layout) value(row node, part string) (node, string) {
	if path, ok := l.mapping[part]; ok {
		return row.at(path), path
	}
	for _, name := range names[part] {
		if v := row.at(name); !v.blank() && (v.isScalar() || part == partReferences) {
			return v, name
		}
	}
	switch {
	case part == partResponse:
		if v, name := prediction(row); name != "" {
			return v, name
		}
		if l.answer == partResponse {
			return row.member(either), either
		}
	case part == partReferences && l.answer == partReferences:
		return row.member(either), either
	}
	return node{}, ""
}

// prediction returns the only column that ends in _prediction, as the script of LoCoMo
// writes them.
func prediction(row node) (node, string) {
	found := ""
	for _, key := range row.keys {
		if strings.HasSuffix(key, "_prediction") {
			if found != "" {
				return node{}, ""
			}
			found = key
		}
	}
	return row.member(found), found
}

// isRow reports whether an object is a row: it says which question it is about, and
// what was answered or decided.
func (l layout) isRow(o node) bool {
	if o.kind != object {
		return false
	}
	question, _ := l.value(o, partQuestion)
	id, _ := l.value(o, partID)
	if !question.isScalar() && !id.isScalar() {
		return false
	}
	if path, ok := l.mapping[partLabel]; ok && o.at(path).kind != missing {
		return true
	}
	if r, _ := l.value(o, partResponse); r.kind != missing || o.has(either) {
		return true
	}
	for _, c := range verdictColumns {
		if o.at(c.path).kind != missing {
			return true
		}
	}
	return slices.ContainsFunc(names[partResponse], o.has)
}

// decide settles, over all rows, what the column answer holds and which column holds
// the verdict.
func (l *layout) decide(rows []row) {
	hasReference, hasResponse := false, false
	for _, r := range rows {
		l.answer = ""
		ref, _ := l.value(r.node, partReferences)
		res, _ := l.value(r.node, partResponse)
		hasReference = hasReference || ref.kind != missing || slices.ContainsFunc(r.keys, numbered.MatchString)
		hasResponse = hasResponse || res.kind != missing
	}
	l.answer = partReferences
	if hasReference && !hasResponse {
		l.answer = partResponse
	}
	if path, ok := l.mapping[partLabel]; ok {
		l.verdict = verdictColumn{path: path}
		if i := slices.IndexFunc(verdictColumns, func(c verdictColumn) bool { return c.path == path }); i >= 0 {
			l.verdict = verdictColumns[i]
		}
		l.words.inverted = l.verdict.inverted
		return
	}
	for _, c := range verdictColumns {
		switch {
		case !l.holdsVerdicts(c, rows):
		case l.verdict.path == "":
			l.verdict = c
		case !c.rule && !strings.HasPrefix(c.path, l.verdict.path) && !strings.HasPrefix(l.verdict.path, c.path):
			l.others = append(l.others, c.path)
		}
	}
	l.words.inverted = l.verdict.inverted
}

// holdsVerdicts reports whether a column is there and most of what it holds can be
// read.
func (l layout) holdsVerdicts(c verdictColumn, rows []row) bool {
	present, readable, verdicts := 0, 0, 0
	for _, r := range rows {
		for _, v := range c.votes(r.node) {
			if v.kind == missing {
				continue
			}
			present++
			if l.words.readable(v) {
				readable++
			}
			if l.words.read(v).verdict != nil {
				verdicts++
			}
		}
	}
	return verdicts > 0 && 2*readable >= present
}

// votes returns the verdicts of a row: several where the column holds a list, or has a
// name under which programs keep several.
func (c verdictColumn) votes(row node) []node {
	v := row.at(c.path)
	if v.kind == list || v.kind == object && c.several {
		return v.vals
	}
	return []node{v}
}

// elements returns the elements of a list, or the value itself.
func elements(n node) []node {
	if n.kind == list {
		return n.vals
	}
	return []node{n}
}
