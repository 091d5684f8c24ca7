package deemtest_test

import (
	"context"
	"fmt"
	"testing"

	"deem"
	"deem/deemtest"
	"deem/judge/match"
)

const question = "Where does Mara live?"

// answer represents the system under test.
func answer(string) string { return "She lives in Porto." }

// items represents questions from a file, with the answers of the system.
func items() []deem.Item {
	list := make([]deem.Item, 40)
	for i := range list {
		list[i] = deem.Item{ID: fmt.Sprint("q", i), Question: question, References: []string{"Porto"}, Response: answer(question)}
	}
	return list
}

// TestAnswers shows how a team tests the answers of its system.
func TestAnswers(t *testing.T) {
	it := deem.Item{ID: "q1", Question: question, References: []string{"Porto"}, Response: answer(question)}
	deemtest.Judge(t, match.New(), it).AtLeast(0.9)

	deemtest.All(t, match.New(), items()).AllowUnjudged(0.05).SurelyAtLeast(0.8)
}

// shown prints errors, so that the examples can show them. In your tests, use the
// *testing.T.
type shown struct{ testing.TB }

func (shown) Helper()                           {}
func (shown) Context() context.Context          { return context.Background() }
func (shown) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A wrong answer fails the test, and the message shows what the judge saw.
func ExampleJudge() {
	t := shown{} // in a _test.go file it is the *testing.T
	it := deem.Item{ID: "q1", Question: "How long was the trip?", References: []string{"18 days"}, Response: "19 days"}
	deemtest.Judge(t, match.New(), it).AtLeast(0.9)
	// Output:
	// item q1: score 0, want at least 0.9
	// 	judge      match: incorrect
	// 	reason     the number 18 days of the reference is 19 days in the response
	// 	question   How long was the trip?
	// 	reference  18 days
	// 	response   19 days
}

// For many answers, the test checks the share that is right and its confidence interval.
func ExampleAll() {
	t := shown{} // in a _test.go file it is the *testing.T
	deemtest.All(t, match.New(), items()[:5]).SurelyAtLeast(0.8)
	// Output:
	// score 1 [0.5655, 1] n=5 unjudged=0, want its lower end to be at least 0.8
	// 	item q0: correct, score 1: "She lives in Porto."
	// 	item q1: correct, score 1: "She lives in Porto."
	// 	item q2: correct, score 1: "She lives in Porto."
	// 	item q3: correct, score 1: "She lives in Porto."
	// 	item q4: correct, score 1: "She lives in Porto."
}
