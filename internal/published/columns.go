package published

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"deem"
	"deem/internal/text"
)

// A Mapping maps parts to columns, by name or by a dotted path.
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
// recorded verdict (label, which may be a score), the judge's reason, its whole reply and
// its model, the system that gave the response, and the truth: the label of people, or of a
// more trusted judge, for the same response.
func Parts() []string {
	return []string{
		partID, partCategory, partCluster, partQuestion, partReferences, partResponse,
		partLabel, partReason, partReply, partModel, partSystem, partTruth,
	}
}

// check rejects unknown parts.
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

// numbered matches references in separate columns: Best_Answer1, Best_Answer2.
var numbered = regexp.MustCompile(`(?i)^(best[_ ]?answer|reference|gold(en)?_answer|answer)_?[0-9]+$`)

// A verdictColumn is a column in which files store the verdicts of their own judge.
type verdictColumn struct {
	path     string
	inverted bool // true means that the response is bad
	rule     bool // the result of a formula, used only if there is no verdict of a judge
	reply    bool // it contains the judge's reply itself
	several  bool // it contains the verdicts of several trials, in a list or by name
}

// verdictColumns are in order of precedence.
var verdictColumns = []verdictColumn{
	{path: "autoeval_label.label"},
	{path: "autoeval_label"},
	{path: "llm_judgments", several: true},
	{path: "judge_votes", several: true},
	{path: "llm_score"},
	{path: "grade"},
	{path: "evaluation_result"},
	{path: "judge_label"},
	{path: "judge_labels", several: true},
	{path: "llm_correct"},
	{path: "llm_label"},
	{path: "llm_verdict"},
	{path: "llm_judgment"},
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
	{path: "rubric_score"},
	{path: "nugget_score"},
	{path: "metrics.correctness.score"},
	{path: "metrics.humaneval.score"},
	{path: "metrics.llm_judge.score"},
	{path: "scores.correctness"},
	{path: "scores.factuality"},
	{path: "original_verdict"},
	{path: "original_label"},
	{path: "acceptable"},
	{path: "is_acceptable"},
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

// aspectName matches the columns with results of formulas.
var aspectName = regexp.MustCompile(`(?i)^(f1|bleu|rouge|em$|exact_match|precision|recall|meteor|bert|sbert|chrf)`)
