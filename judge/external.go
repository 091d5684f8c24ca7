package judge

import (
	"encoding/json"
	"slices"
	"strings"

	"deem"
)

// itemRole is the role of the message that contains an item, as defined by package
// model/command.
const itemRole = "item"

// external is the value of the option "protocol" of an external judge.
const external = "external"

// An externalProtocol delegates judging to a program.
type externalProtocol struct{ name string }

// External returns the protocol for the program with the given name. It sends the item as
// JSON and reads the verdict from the JSON reply. Package model/command describes the
// objects.
func External(name string) Readable { return externalProtocol{name} }

// Name returns the name of the program.
func (p externalProtocol) Name() string { return p.name }

// Spec returns the name. The model identifies the program.
func (p externalProtocol) Spec() Spec {
	return Spec{Kind: KindModel, Name: p.name, Options: map[string]string{"protocol": external}}
}

// Request returns a request that contains the item.
func (p externalProtocol) Request(it deem.Item) (deem.Request, error) {
	return deem.Request{Messages: []deem.Message{{Role: itemRole, Content: string(it.Canonical())}}}, nil
}

// Read returns the verdict. A reply without label and score is a failure, and so is a reply
// with only one of them if the other cannot be derived from it.
func (p externalProtocol) Read(_ deem.Item, reply deem.Reply) (deem.Verdict, error) {
	var said struct {
		Label      string             `json:"label"`
		Score      *float64           `json:"score"`
		Pass       *bool              `json:"pass"`
		Aspects    map[string]float64 `json:"aspects"`
		Reason     string             `json:"reason"`
		Confidence *float64           `json:"confidence"`
		Failure    *deem.Failure      `json:"failure"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &said); err != nil {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "%v: %s", err, clip(reply.Text))
	}
	switch f := said.Failure; {
	case f == nil:
	case !slices.Contains(deem.Kinds(), f.Kind):
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the failure has the unknown kind %q: %s", f.Kind, f.Detail)
	default:
		return deem.Verdict{}, f
	}
	v := deem.Verdict{Label: said.Label, Pass: said.Pass, Aspects: said.Aspects, Reason: said.Reason, Confidence: said.Confidence}
	// Without a score, the pass counts, or else a label whose meaning is clear.
	label := strings.ToLower(said.Label)
	yes := slices.Contains([]string{"yes", "correct", "right", "pass", "true"}, label)
	no := slices.Contains([]string{"no", "incorrect", "wrong", "fail", "false"}, label)
	switch {
	case said.Score != nil:
		v.Score = *said.Score
	case said.Pass != nil && *said.Pass:
		v.Score = 1
	case said.Pass != nil:
	case yes:
		v.Score = 1
	case !no:
		return deem.Verdict{}, deem.Failf(deem.Unparseable, `the verdict has no "score", and its label is not yes or no: %s`, clip(reply.Text))
	}
	if !(v.Score >= 0 && v.Score <= 1) {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "score %v is not between 0 and 1", v.Score)
	}
	if c := v.Confidence; c != nil && !(*c >= 0 && *c <= 1) {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "confidence %v is not between 0 and 1", *c)
	}
	// A pass may have any threshold, but none between nothing and everything.
	if yes && !v.Yes() || no && v.Yes() || v.Score == 1 && !v.Yes() || v.Score == 0 && v.Yes() {
		return deem.Verdict{}, deem.Failf(deem.Contradictory, "label, score and pass contradict each other: %s", clip(reply.Text))
	}
	if v.Label == "" {
		v.Label = map[bool]string{true: "yes", false: "no"}[v.Yes()]
	}
	return v, nil
}

// Reading returns "", because there is only one way to read an object.
func (p externalProtocol) Reading() string { return "" }

// Reread returns nil.
func (p externalProtocol) Reread() Readable { return nil }

// FailuresWrong returns false.
func (p externalProtocol) FailuresWrong() bool { return false }
