package metric_test

import (
	"fmt"

	"deem/internal/text/metric"
)

func ExampleNLTKWords() {
	fmt.Printf("%q\n", metric.NLTKWords("Dr. Vos didn't sail. She flew."))
	// Output: ["Dr." "Vos" "did" "n't" "sail" "." "She" "flew" "."]
}

// Without a thesaurus, METEOR matches equal words and equal stems.
func ExampleMETEOR() {
	score, err := metric.METEOR(metric.NLTKWords("she keeps bees"), [][]string{metric.NLTKWords("she kept bees")}, nil)
	fmt.Printf("%.3f %v\n", score, err)
	// Output: 0.333 <nil>
}
