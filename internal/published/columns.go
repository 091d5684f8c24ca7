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

// aspectName matches the columns with results of formulas.
var aspectName = regexp.MustCompile(`(?i)^(f1|bleu|rouge|em$|exact_match|precision|recall|meteor|bert|sbert|chrf)`)
