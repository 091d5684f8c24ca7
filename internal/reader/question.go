package reader

import (
	"encoding/json"
	"fmt"

	"deem"
)

// A Question is everything that a reader may know about an item. It has no field for a
// reference, for evidence or for a rubric, so a reader cannot see the answer key.
type Question struct {
	Text     string
	Date     string   // when the question is asked, as the data spells it; "" if unknown
	Speakers []string // of the conversation, in its order; may be empty
	Contexts []Context
	Cut      string // "" or [CutEnd]
}

// CutEnd means that a text of contexts that exceeds the budget is cut at its end, in the
// middle of a passage. Otherwise passages of the lowest rank are left out.
const CutEnd = "end"

// A Context is one passage that the system under test retrieved, in the order of its rank.
type Context struct {
	// ID identifies the passage for the analysis of evidence. It is never shown to a
	// model: in some benchmarks the ids of evidence sessions give the answer away.
	ID string `json:"id,omitempty"`

	Text    string   `json:"text,omitempty"`
	Time    string   `json:"time,omitempty"`    // when it was said or stored, as the data spells it
	Speaker string   `json:"speaker,omitempty"` // the person whose memory it is
	Score   *float64 `json:"score,omitempty"`   // of the retrieval

	// Turns are the turns of a conversation, if the passage is a session. Text is then
	// not used.
	Turns []Turn `json:"turns,omitempty"`

	// Joined means that the text is all passages as the system joined them. It is used as
	// it is.
	Joined bool `json:"joined,omitempty"`

	// Raw is the search result as the system returned it, for readers that show it as
	// JSON. It may be empty.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// A Turn is one message of a session.
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Fields of an item that a reader uses. All other fields, the references, the category and
// the ids stay hidden from it.
const (
	// FieldContexts is a JSON list of [Context]. No judge that comes with deem shows a
	// field of this name: contexts are for the reader, and their ids may tell the key.
	FieldContexts = "reader_contexts"

	FieldCut      = "contexts_cut"      // [CutEnd], or missing
	FieldDate     = "question_date"     // when the question is asked
	FieldSpeakers = "speakers"          // a JSON list of names
	FieldStatus   = "retrieval_failure" // why the retrieval failed; an item with it is not answered
)

// QuestionOf returns the question of an item. This is the only place where a reader meets an
// item. If the retrieval failed, the error is a *[deem.Failure]: an item without contexts is
// answered, but one whose retrieval failed is not.
func QuestionOf(it deem.Item) (Question, error) {
	if why := it.Fields[FieldStatus]; why != "" {
		return Question{}, deem.Failf(deem.Input, "the retrieval failed: %s", why)
	}
	q := Question{Text: it.Question, Date: it.Fields[FieldDate], Cut: it.Fields[FieldCut]}
	if text := it.Fields[FieldContexts]; text != "" {
		if err := json.Unmarshal([]byte(text), &q.Contexts); err != nil {
			return Question{}, deem.Failf(deem.Input, "the contexts are not a list of passages: %v", err)
		}
	}
	if text := it.Fields[FieldSpeakers]; text != "" {
		if err := json.Unmarshal([]byte(text), &q.Speakers); err != nil {
			return Question{}, deem.Failf(deem.Input, "the speakers are not a list of names: %v", err)
		}
	}
	if q.Text == "" {
		return Question{}, deem.Failf(deem.Input, "the item has no question")
	}
	return q, nil
}

// EncodeContexts returns contexts as the value of [FieldContexts].
func EncodeContexts(list []Context) (string, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("encode contexts: %w", err)
	}
	return string(text), nil
}

// Tokens estimates the tokens of a text as one for every four bytes, rounded up. A budget
// needs a count that is the same for every model, and no tokenizer is.
func Tokens(text string) int { return (len(text) + 3) / 4 }
