package match_test

import (
	"context"
	"fmt"

	"deem"
	"deem/judge/match"
)

// Values are compared by what they mean, and the reason says what decided.
func ExampleNew_values() {
	it := deem.Item{
		ID: "q17", Category: "temporal", Question: "How long has Tobias been a nurse?",
		References: []string{"7 years"}, Response: "He has been a nurse for six years.",
	}
	v, err := match.New().Judge(context.Background(), it)
	fmt.Println(v.Label, v.Score, err)
	fmt.Println(v.Reason)
	// Output:
	// incorrect 0 <nil>
	// the number 7 years of the reference is six years in the response
}

func ExampleNew() {
	judge := match.New()
	for _, response := range []string{"It took two weeks and four days.", "19 days", "I don't know.", "18 or 19 days"} {
		v, err := judge.Judge(context.Background(), deem.Item{
			Question:   "How long did the trip take?",
			References: []string{"18 days"},
			Response:   response,
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s: %s\n", v.Label, v.Reason)
	}
	// Output:
	// correct: two weeks and four days equals 18 days; nothing contradicts
	// incorrect: the number 18 days of the reference is 19 days in the response
	// incorrect: the response gives no answer
	// unsure: the response has both 19 days and 18 (right with probability 0.69)
}
