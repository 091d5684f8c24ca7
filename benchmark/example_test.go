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
	// longmemeval [longmemeval longmemeval/mem0] [upstream strict seed]
	// halumem [halumem halumem/omnimemeval] [upstream strict fixed]
	// locomo [locomo/f1 locomo/strict locomo/lenient locomo/evermemos locomo/mem0-2025 locomo/mem0-2026-04-03 locomo/mem0-2026-04-09 locomo/mem0-2026-04-09-evidence locomo/memmachine locomo/memobase locomo/memos locomo/omnimemeval] [upstream fixed strict]
	// longbench [longbench] [upstream fixed]
	// infinitebench [infinitebench] [upstream fixed]
}
