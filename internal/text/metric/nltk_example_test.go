package metric_test

import (
	"fmt"

	"deem/internal/text/metric"
)

func ExampleNLTKWords() {
	fmt.Printf("%q\n", metric.NLTKWords("Dr. Vos didn't sail. She flew."))
	// Output: ["Dr." "Vos" "did" "n't" "sail" "." "She" "flew" "."]
}
