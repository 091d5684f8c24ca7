package deem

import (
	"errors"
	"fmt"
)

// A Verdict is one judge's decision on one item.
type Verdict struct {
	// Label is the decision as the judge spells it, for example "CORRECT".
	Label string `json:"label"`

	// Score is the value of the decision, from 0 to 1.
	Score float64 `json:"score"`

	// Pass says whether the verdict meets the judge's pass mark. It is nil if the judge
	// has none.
	Pass *bool `json:"pass,omitempty"`

	// Aspects are named scores on their own scales, for example "correctness": 8 of 10.
	Aspects map[string]float64 `json:"aspects,omitempty"`

	// Parts are the verdicts on the criteria of the item, in order, if the judge decides
	// each criterion separately.
	Parts []Part `json:"parts,omitempty"`

	// Reason is the judge's explanation, if it gave one.
	Reason string `json:"reason,omitempty"`

	// Confidence is how sure the judge is of the label, from 0 to 1. It is nil if the
	// judge does not say.
	Confidence *float64 `json:"confidence,omitempty"`
}

// A Part is the verdict on one criterion of an item, or the reason why there is none.
// Exactly one of Score and Failure is set.
type Part struct {
	Name    string   `json:"name"` // the text of the criterion
	Label   string   `json:"label,omitempty"`
	Score   *float64 `json:"score,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Yes reports the verdict as yes or no, for comparing judges with people and with each other:
// whether it meets the pass mark or, if the judge has none, whether the score is at least
// one half.
func (v Verdict) Yes() bool {
	if v.Pass != nil {
		return *v.Pass
	}
	return v.Score >= 0.5
}

// A Kind says why an item has no verdict.
type Kind string

// The kinds of failure, in the order in which reports list them.
const (
	Unparseable   Kind = "unparseable"   // the reply contains none of the labels
	Refused       Kind = "refused"       // the model declined, or a filter stopped it
	Truncated     Kind = "truncated"     // the reply ended before its verdict
	Empty         Kind = "empty"         // the reply has no text
	OutOfRange    Kind = "out_of_range"  // a number is outside its scale
	Contradictory Kind = "contradictory" // the reply gives two labels, and neither is final
	Quote         Kind = "quote"         // the reply quotes what the response does not say
	Unsure        Kind = "unsure"        // the judge abstained
	Provider      Kind = "provider"      // the vendor returned an error
	Timeout       Kind = "timeout"       // no answer in time
	Budget        Kind = "budget"        // the call would have exceeded the budget
	Input         Kind = "input"         // the item lacks what the judge needs, or is too long for it
)

// Kinds returns every kind of failure in the order in which reports list them.
func Kinds() []Kind {
	return []Kind{
		Unparseable, Refused, Truncated, Empty, OutOfRange,
		Contradictory, Quote, Unsure, Provider, Timeout, Budget, Input,
	}
}

// A Failure says why an item has no verdict. It has no score: unjudged is not
// wrong.
type Failure struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail,omitempty"`

	// Probability is the probability that the response is correct, if a judge that
	// abstains can state it. It is not a score of the item: a report uses it for the
	// expected score. It is nil for all other failures.
	Probability *float64 `json:"probability,omitempty"`
}

// Failf returns a failure of the given kind with a formatted detail.
func Failf(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Error returns the kind and the detail.
func (f *Failure) Error() string {
	if f.Detail == "" {
		return string(f.Kind)
	}
	return string(f.Kind) + ": " + f.Detail
}

// hinted is an error with advice on how to fix it. Commands print the advice on a separate
// line.
type hinted struct {
	Err    error
	Advice string
}

// WithHint attaches advice to err. It returns nil if err is nil.
func WithHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{Err: err, Advice: fmt.Sprintf(format, args...)}
}

// Error returns the text of the error without the advice.
func (h *hinted) Error() string { return h.Err.Error() }

// Unwrap returns the error that the advice is about.
func (h *hinted) Unwrap() error { return h.Err }

// HintOf returns the advice attached to err, or "".
func HintOf(err error) string {
	if h, ok := errors.AsType[*hinted](err); ok {
		return h.Advice
	}
	return ""
}
