package locomo

import (
	"fmt"
	"strings"

	"deem"
)

// A Policy says what is done with category 5, the questions about what was never
// said. Upstream's file has no right answer for 444 of the 446, so that its own
// script stops there, and everybody else had to choose. A score over 1,540 questions
// and one over 1,986 are different numbers. The policy is part of a judge's
// identity, and every report states it.
type Policy string

// The policies.
const (
	// Excluded leaves category 5 out, as most published scores do. It is the
	// default.
	Excluded Policy = "excluded"

	// Phrases scores category 5 by upstream's rule: the response is right if
	// "no information available" or "not mentioned" stands in it, and wrong
	// otherwise, whichever judge has the other categories.
	Phrases Policy = "phrases"

	// Abstention asks a model whether the response says that it cannot know.
	Abstention Policy = "abstention"
)

// Policies returns the policies, the default first.
func Policies() []Policy { return []Policy{Excluded, Phrases, Abstention} }

// ParsePolicy returns the policy of that name; "" means [Excluded].
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

// recordedFive is not a policy that can be chosen: somebody else judged category 5, in a
// way that the records do not tell, and it counts.
const recordedFive Policy = "recorded"

// says tells in one line what the policy did, for reports.
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

// left is why an item of category 5 has no verdict when it is left out. [Open] does
// not even make such items; they come from elsewhere.
func left() error {
	return deem.Failf(deem.Input, "category 5 is left out: the policy is %q", Excluded)
}
