package benchmark_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark"
)

// A letter that was offered is right or wrong; one that was not is a failure.
func Example() {
	j := benchmark.NewChoice(benchmark.ChoiceStrict, benchmark.ChoiceStrict, "")
	for _, response := range []string{"The answer is (B).", "A", "E"} {
		v, err := j.Judge(context.Background(), deem.Item{
			Question: "Where was Ada born?", References: []string{"B"}, Response: response,
			Fields: map[string]string{benchmark.OptionsField: `{"A": "Paris", "B": "London"}`},
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(v.Label, v.Score)
	}
	// Output:
	// right 1
	// wrong 0
	// out_of_range: the response takes E, which was not offered: A, B were
}
