package rule_test

import (
	"testing"

	"deem"
	"deem/judge/rule"
)

// contains/text looks inside words; contains does not.
func TestContainsText(t *testing.T) {
	for _, tt := range []struct {
		reference, response string
		words, text         bool
	}{
		{"loop", "a loop⁶ of rope", false, true},
		{"6", "in 496 pages", false, true},
		{"The Loop", "the loop!", true, true},
		{"lasso", "a loop of rope", false, false},
		{"the", "", true, true},       // both are empty after normalisation
		{"the", "rope", false, false}, // an empty reference is not in a non-empty response
	} {
		it := deem.Item{ID: "a", References: []string{tt.reference}, Response: tt.response}
		for _, j := range []struct {
			deem.Judge
			want bool
		}{{rule.Contains(), tt.words}, {ruleNamed("contains/text"), tt.text}} {
			v, err := j.Judge.Judge(t.Context(), it)
			if err != nil || (v.Score == 1) != j.want {
				t.Errorf("%s: %q in %q: %v, %v, want %t", j.Name(), tt.reference, tt.response, v.Score, err, j.want)
			}
		}
	}
}
