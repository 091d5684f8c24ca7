package rows

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deem"
)

// The parts of a row that every reader looks for.
const (
	ID         = "id"
	Category   = "category"
	Cluster    = "cluster"
	Question   = "question"
	References = "references"
	Response   = "response"
)

// NoResponse is a field of items for which a file has no response: null or missing. An
// empty text is a response, and has no such field.
const NoResponse = "no_response"

// The parts of a label of a person. The names of their columns are recognised in files of
// labels, in addition to those of ids, verdicts and reasons.
const (
	Item      = "item"
	Label     = "label"
	Score     = "score"
	Annotator = "annotator"
	Note      = "note"
)

// A Column is a part of a row and the column names that are recognised for it.
type Column struct {
	Target string

	// Names are unambiguous names for this part, our own first. If a row has two of them,
	// the user must choose.
	Names []string

	// Also are weaker names. They count only if none of Names is present, and the first of
	// them wins.
	Also []string
}

// table is the list of all column names: for items, for labels, and for published
// results. Names are compared by [Plain], so goldAnswer, "Gold Answer" and gold_answer
// are one name. It contains only names that usually mean one thing: "label" is a verdict as
// often as a reference, and "session" has many meanings.
var table = []Column{
	{
		Target: ID, Names: []string{"id", "question_id", "query_id", "qa_id", "qid", "item_id", "uid", "uuid"},
		Also: []string{"prompt_id", "example_id", "task_id"},
	},
	{Target: Category, Names: []string{"category", "question_type", "type", "task"}, Also: []string{"dim", "dimension", "memory_ability", "ability"}},
	{
		Target: Cluster, Names: []string{"cluster", "conversation_id", "conv_id", "sample_id"},
		Also: []string{"conversation", "conv", "conversation_idx", "conversation_index", "conv_idx", "conv_index", "user_id", "group_id"},
	},
	{Target: Question, Names: []string{"question", "query", "user_input", "input", "prompt"}, Also: []string{"q", "question_input", "user_query", "instruction", "inputs", "inputs.question", "inputs.input"}},
	{
		Target: References,
		Names: []string{
			"references", "reference", "answers", Answer, "gold", "gold_answer", "gold_answers", "golden_answer", "golden_answers",
			"ground_truth", "ground_truths", "ground_truth_answer", "correct_answer", "correct_answers", "expected", "expected_output",
			"expected_answer", "reference_answer", "ideal_answer", "target",
		},
		Also: []string{"ideal", "expect", "gold_standard", "true_answer", "best_answer", "reference_outputs", "reference.answer", "reference.output"},
	},
	{
		Target: Response,
		Names: []string{
			"response", "hypothesis", "prediction", "pred", "output", "system_response", "generated_answer", "model_answer", "actual_output",
			"predicted", "predicted_answer", "actual", "actual_answer", "actual_response", "system_answer", "generated_response", "llm_response",
		},
		Also: []string{"model_output", "model_response", "generated_text", "generation", "sampled", "completion", "reply", "outputs", "outputs.answer", "outputs.output"},
	},
	{Target: "messages", Names: []string{"messages"}},
	{Target: "weight", Names: []string{"weight"}},
	{Target: "fields", Names: []string{"fields"}},
	{
		Target: "reason",
		Names: []string{
			"reason", "judge_reason", "judge_reasoning", "evaluation_reasoning", "reasoning", "explanation", "rationale", "justification",
		},
	},
	{
		Target: "reply",
		Names: []string{
			"judge_raw", "raw_reply", "judge_raw_reply", "judge_reply", "judge_response", "judge_output", "raw_judgment",
			"raw_judgement", "llm_judge_raw", "evaluation_reasoning",
		},
	},
	{Target: "judge_model", Names: []string{"judge_model", "judge_llm", "autoeval_label.model"}},
	{Target: "system", Names: []string{"system", "run", "model"}},
	{
		Target: deem.FieldTokensIn, Names: []string{"tokens_in", "input_tokens", "prompt_tokens", "tokens_input"},
		Also: []string{"usage.prompt_tokens", "usage.input_tokens"},
	},
	{
		Target: deem.FieldTokensOut, Names: []string{"tokens_out", "output_tokens", "completion_tokens", "tokens_output"},
		Also: []string{"usage.completion_tokens", "usage.output_tokens"},
	},
	{
		Target: deem.FieldLatency, Names: []string{"latency_ms", "duration_ms", "elapsed_ms", "response_time_ms"},
		Also: []string{"latency_s", "latency_seconds", "latency_sec", "duration_seconds", "elapsed_seconds", "response_time_seconds"},
	},
	{Target: deem.FieldCost, Names: []string{"cost", "cost_usd", "total_cost", "total_cost_usd"}},
	{Target: Item, Names: []string{"item"}},
	{Target: Label, Names: []string{"human_verdict", "human", "expected_verdict"}},
	{Target: Annotator, Names: []string{"annotator", "annotator_id", "rater", "labeler", "labeller", "labelled_by", "labeled_by", "reviewer", "worker_id"}},
	{Target: "confidence", Names: []string{"confidence"}},
	{Target: Note, Names: []string{"why", "comment", "note", "notes"}},
	{Target: "judge_hash", Names: []string{"judge_hash"}},
	{Target: "drawn", Names: []string{"drawn"}},
	{Target: deem.FieldTrace, Names: []string{"trace_id"}},
	{Target: deem.FieldSpan, Names: []string{"span_id", "observation_id"}},
}

// A Verdict is a column with verdicts on responses.
type Verdict struct {
	Path     string // a name, or a dotted path
	Inverted bool   // true means that the response is bad
	Rule     bool   // the result of a formula, used only if there is no verdict of a judge
	Reply    bool   // it contains the judge's reply itself
	Several  bool   // it contains the verdicts of several trials, in a list or by name

	// Human is the part of a label of a person, Label or Score, that the column contains in
	// a file of labels; "" if people do not use the name.
	Human string
}

// verdicts are in order of precedence: those of judges before those of people, and these
// before the results of formulas.
var verdicts = []Verdict{
	{Path: "autoeval_label.label"},
	{Path: "autoeval_label"},
	{Path: "llm_judgments", Several: true},
	{Path: "judge_votes", Several: true},
	{Path: "llm_score"},
	{Path: "grade", Human: Score},
	{Path: "evaluation_result"},
	{Path: "judge_label"},
	{Path: "judge_labels", Several: true},
	{Path: "llm_correct"},
	{Path: "llm_label"},
	{Path: "llm_verdict"},
	{Path: "llm_judgment"},
	{Path: "judgment", Human: Label},
	{Path: "judgement", Human: Label},
	{Path: "verdict", Human: Label},
	{Path: "judge_verdict"},
	{Path: "llm_judge"},
	{Path: "judge_correct"},
	{Path: "is_correct", Human: Label},
	{Path: "correct", Human: Label},
	{Path: "judge.pass"},
	{Path: "judge.correct"},
	{Path: "judge.label"},
	{Path: "judge.verdict"},
	{Path: "judge.score"},
	{Path: "judge"},
	{Path: "evaluation.label"},
	{Path: "evaluation.correct"},
	{Path: "evaluation.judge"},
	{Path: "evaluation", Reply: true},
	{Path: "label", Human: Label},
	{Path: "passed", Human: Label},
	{Path: "pass", Human: Label},
	{Path: "success"},
	{Path: "is_hallucination", Inverted: true},
	{Path: "hallucinated", Inverted: true},
	{Path: "judge_score"},
	{Path: "llm_judge_score"},
	{Path: "rubric_score"},
	{Path: "nugget_score"},
	{Path: "metrics.correctness.score"},
	{Path: "metrics.humaneval.score"},
	{Path: "metrics.llm_judge.score"},
	{Path: "scores.correctness"},
	{Path: "scores.factuality"},
	{Path: "original_verdict"},
	{Path: "original_label"},
	{Path: "acceptable"},
	{Path: "is_acceptable"},
	{Path: "human_label", Human: Label},
	{Path: "human_score", Human: Score},
	{Path: "score", Human: Score},
	{Path: "rating", Human: Score},
	{Path: "metrics.f1", Rule: true},
	{Path: "metrics.f1.score", Rule: true},
	{Path: "evaluation.f1", Rule: true},
	{Path: "f1_score", Rule: true},
	{Path: "f1", Rule: true},
	{Path: "metrics.exact_match", Rule: true},
	{Path: "exact_match", Rule: true},
	{Path: "em", Rule: true},
}

// Verdicts returns the columns with verdicts that are recognised without a mapping, in order
// of precedence.
func Verdicts() []Verdict { return verdicts }

// HumanNames returns the names of the column with the label or the score of a person: first
// those that say so, then those that programs use, too.
func HumanNames(part string) []string {
	names := Names(part)
	for _, v := range verdicts {
		if v.Human == part {
			names = append(names, v.Path)
		}
	}
	rank := func(name string) int {
		switch {
		case name == part:
			return 0
		case strings.HasPrefix(name, "human"):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// In returns the verdicts of a row. There are several only if the column has a name under
// which programs store several; a list elsewhere is not a list of trials.
func (c Verdict) In(row Node) []Node {
	v := row.At(c.Path)
	if c.Several && (v.Kind == List || v.Kind == Object) {
		return v.Vals
	}
	return []Node{v}
}

// SystemFields returns the parts with the cost of a response for the system under test and
// with its trace. They become fields of the item. If a row has several columns for one of
// them, the first in the table counts.
func SystemFields() []string {
	return []string{deem.FieldTokensIn, deem.FieldTokensOut, deem.FieldLatency, deem.FieldCost, deem.FieldTrace, deem.FieldSpan}
}

// Answer is an ambiguous name. With another reference and no response, it is the response;
// with a response and no other reference, it is the reference; alone it is neither.
const Answer = "answer"

// Columns returns the parts of a row with the column names that are recognised without a
// mapping.
func Columns() []Column { return table }

// Names returns all names of a part, stronger names first.
func Names(target string) []string {
	for _, c := range table {
		if c.Target == target {
			return slices.Concat(c.Names, c.Also)
		}
	}
	return nil
}

// NamesAfter returns the given names, followed by the other names of a part.
func NamesAfter(target string, first ...string) []string {
	return slices.Concat(first, slices.DeleteFunc(Names(target), func(name string) bool { return slices.Contains(first, name) }))
}

// conversationID matches ids that begin with the name of a conversation.
var conversationID = regexp.MustCompile(`(?i)^(conv(?:ersation)?[-_]?[0-9]+)[:/_.-]+[a-z]*[-_]?[0-9]+$`)

// Conversation returns the conversation that an id begins with, or "": conv-0 for conv-0:122,
// and conv-26 for conv-26_q4. It is the cluster of a row that names none.
func Conversation(id string) string {
	if m := conversationID.FindStringSubmatch(id); m != nil {
		return m[1]
	}
	return ""
}

// Plain returns the name of a column without case, spaces and punctuation: goldAnswer
// and "Gold Answer" are goldanswer. A dot is kept, because it separates the parts of a
// path.
func Plain(name string) string {
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r != '.' && (r < 'a' || r > 'z') }) {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
