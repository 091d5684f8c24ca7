package reports_test

import (
	"fmt"

	"deem/internal/reports"
)

// Four of five pairs prefer the response of memory, in either order.
func Example() {
	var b reports.RankBuilder
	for i := range 50 {
		better := 1.0
		if i%5 == 0 {
			better = 0
		}
		b.Add(reports.RankVerdict{A: "memory", B: "plain", ShownFirst: better, ShownSecond: better, Item: fmt.Sprint(i)})
	}
	r, err := b.Report(0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	pair := r.Pairs[0]
	fmt.Printf("%s beats %s with probability %.2f [%.2f, %.2f]\n", pair.First, pair.Second, pair.Beats.Value, pair.Beats.Lo, pair.Beats.Hi)
	// Output: memory beats plain with probability 0.80 [0.66, 0.89]
}
