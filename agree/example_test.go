package agree_test

import (
	"context"
	"fmt"

	"deem"
	"deem/agree"
	"deem/data"
	"deem/judge/rule"
)

func ExamplePeople() {
	j, items := rule.Contains(), data.Open("../examples/quickstart/answers.jsonl")
	a, err := agree.People(j, deem.Run(context.Background(), items, j, deem.Options{}), "../examples/quickstart/labels.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d labels: %.0f%% agree, %.0f%% of right answers are rejected\n", a.Labelled, 100*a.Agreement.Value, 100*a.FalseReject.Value)
	fmt.Printf("the score is %.1f%%, and people would give %.1f%% [%.1f, %.1f]\n",
		100*a.Score.Value, 100*a.Corrected.Value, 100*a.Corrected.Lo, 100*a.Corrected.Hi)
	// Output:
	// 60 labels: 52% agree, 66% of right answers are rejected
	// the score is 25.0%, and people would give 73.3% [61.1, 82.8]
}
