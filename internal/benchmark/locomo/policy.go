package locomo

import (
	"fmt"
	"strings"

	"deem"
)

// A Policy says how category 5 is treated, the questions about things that were never said.
// Upstream's file has no right answer for 444 of the 446, so its own script stops there,
// and every other evaluation had to choose. A score over 1,540 questions and one over 1,986
// are different numbers. The policy is part of a judge's identity, and every report states
// it.
type Policy string

// The policies.
const (
	// Excluded leaves category 5 out, as most published scores do. It is the default.
	Excluded Policy = "excluded"

	// Phrases scores category 5 by upstream's rule, whichever judge has the other
	// categories: the response is right if it contains "no information available" or
	// "not mentioned", and wrong otherwise.
	Phrases Policy = "phrases"

	// Abstention asks a model whether the response says that the answer is unknown.
	Abstention Policy = "abstention"
)

// Policies returns the policies, the default first.
func Policies() []Policy { return []Policy{Excluded, Phrases, Abstention} }

// ParsePolicy returns the policy with that name; "" means [Excluded].
func ParsePolicy(name string) (Policy, error) {
	if name == "" {
		return Excluded, nil
	}
	var names []string
	for _, p := range Policies() {
		if string(p) == name {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("no policy %q for category 5; there are %s", name, strings.Join(names, ", "))
}

// recordedFive cannot be chosen. It means that category 5 was judged by others, in a way
// that the records do not state, and counts.
const recordedFive Policy = "recorded"

// says describes the policy in one line, for reports.
func (p Policy) says() string {
	switch p {
	case Phrases:
		return "category 5 (adversarial) by upstream's two phrases"
	case Abstention:
		return "category 5 (adversarial) judged as abstention"
	case recordedFive:
		return "category 5 (adversarial) counted as recorded"
	default:
		return "category 5 (adversarial) excluded"
	}
}

// left returns the failure of an item of category 5 that is excluded. [Open] does not
// create such items; they come from other sources.
func left() error {
	return deem.Failf(deem.Input, "category 5 is left out: the policy is %q", Excluded)
}
