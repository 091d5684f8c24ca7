package matchmodel_test

import (
	"fmt"

	"deem/judge/rule/matchmodel"
)

// The model that is part of the program turns evidence into the probability that a
// person would call a response right. Between two marks the judge is unsure.
func ExampleDefault() {
	m := matchmodel.Default()
	fmt.Println(len(m.Evidence), "kinds of evidence,", len(m.Trees), "trees of depth", matchmodel.Depth)
	fmt.Println("right from", m.Accept, "on, wrong up to", m.Reject)
	// Output:
	// 34 kinds of evidence, 120 trees of depth 3
	// right from 0.7 on, wrong up to 0.3
}
