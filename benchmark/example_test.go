package benchmark_test

import (
	"fmt"

	"deem/benchmark"
)

func ExampleAll() {
	b, ok := benchmark.All().Named("locomo")
	fmt.Println(ok, b.Judges[0], b.Readings[0])
	// Output:
	// true locomo/f1 upstream
}
