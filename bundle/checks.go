package bundle

import (
	"fmt"
	"slices"
)

// An Outcome says how a check ended.
type Outcome string

// The outcomes of a check.
const (
	Passed     Outcome = "ok"
	Failed     Outcome = "failed"
	PartPassed Outcome = "ok in part"  // nothing is wrong, and some of it could not be checked
	NotChecked Outcome = "not checked" // the file does not allow it
)

// A Check is the result of one kind of check.
type Check struct {
	Name     string  `json:"name"`
	Outcome  Outcome `json:"outcome"`
	Findings int     `json:"findings,omitempty"`

	// Detail is the first finding, or says what was not checked and why.
	Detail string `json:"detail,omitempty"`
}

// checkNames are the checks in the order in which they are listed.
var checkNames = []string{
	checkFile, checkForm, checkChain, checkOrder, checkItem, checkJudge, checkRecord,
	checkPrompt, checkWire, checkVerdict, CheckNumbers, checkSignature,
}

// judgedAgain are the checks that need the judge.
var judgedAgain = []string{checkPrompt, checkWire, checkVerdict}

// newChecks returns every check, passed.
func newChecks() []Check {
	list := make([]Check, len(checkNames))
	for i, name := range checkNames {
		list[i] = Check{Name: name, Outcome: Passed}
	}
	return list
}

func (v *Verification) count(f Finding) {
	c := &v.Checks[slices.Index(checkNames, f.Check)]
	if c.Findings == 0 {
		c.Outcome, c.Detail = Failed, f.String()
	}
	c.Findings++
}

// limit says that checks were not made, or not wholly. A finding outweighs it.
func (v *Verification) limit(to Outcome, names []string, format string, args ...any) {
	for _, name := range names {
		if c := &v.Checks[slices.Index(checkNames, name)]; c.Outcome == Passed || c.Outcome == PartPassed && to == NotChecked {
			c.Outcome, c.Detail = to, fmt.Sprintf(format, args...)
		}
	}
}

// stopped says that the checks without a finding did not see the whole file.
func (v *Verification) stopped() {
	v.limit(NotChecked, checkNames, "the rest of the file cannot be read")
}

// compared says how many calls report the parameters that were sent.
func (v *Verification) compared(replies int) {
	switch {
	case v.Wires == 0 && replies > 0:
		v.limit(NotChecked, []string{checkWire}, "no call says which parameters were sent")
	case v.Wires < replies:
		v.limit(PartPassed, []string{checkWire}, "%d of %d replies say which parameters were sent", v.Wires, replies)
	}
}
