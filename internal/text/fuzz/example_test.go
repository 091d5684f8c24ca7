package fuzz_test

import (
	"fmt"

	"deem/internal/text/fuzz"
)

// The same two texts are differently alike to the three libraries.
func Example() {
	a, b := "new york mets", "New York Mets!"
	fmt.Printf("%.1f\n", fuzz.RapidFuzz{}.Ratio(a, b))
	fmt.Println(fuzz.TheFuzz{}.Ratio(a, b))
	fmt.Println(fuzz.FuzzyWuzzy{}.Ratio(a, b))
	// Output:
	// 74.1
	// 74
	// 74
}
