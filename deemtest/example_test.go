package deemtest_test

import (
	"testing"

	"deem"
	"deem/deemtest"
	"deem/judge/rule"
)

// answer stands for the system under test.
func answer(string) string { return "She lives in Porto." }

func ExampleJudge() {
	// In a file ..._test.go of your own:
	_ = func(t *testing.T) {
		question := "Where does Mara live?"
		it := deem.Item{ID: "q1", Question: question, References: []string{"Porto"}, Response: answer(question)}
		deemtest.Judge(t, rule.Match(), it).AtLeast(0.9)
	}
}

func ExampleAll() {
	_ = func(t *testing.T) {
		items := []deem.Item{ /* read from where you keep them */ }
		deemtest.All(t, rule.Match(), items).AllowUnjudged(0.05).SurelyAtLeast(0.8)
	}
}

// TestAnswer is what the examples say, done.
func TestAnswer(t *testing.T) {
	question := "Where does Mara live?"
	deemtest.Judge(t, rule.Match(), deem.Item{ID: "q1", Question: question, References: []string{"Porto"}, Response: answer(question)}).AtLeast(0.9)
}
