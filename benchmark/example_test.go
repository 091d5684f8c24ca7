package benchmark_test

import (
	"fmt"

	"deem/benchmark"
)

func ExampleAll() {
	for _, b := range benchmark.All() {
		fmt.Println(b.Name, b.Judges, b.Readings)
	}
	// Output:
	// longmemeval [longmemeval] [upstream strict seed]
	// halumem [halumem] [upstream strict fixed]
	// locomo [locomo/f1 locomo/strict locomo/lenient] [upstream fixed]
	// longbench [longbench] [upstream fixed]
	// infinitebench [infinitebench] [upstream fixed]
}
