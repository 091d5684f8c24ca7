// Package benchmark lists the benchmarks. A benchmark consists of a reader for its files,
// its judges and its metrics, all as published. Each is a separate package; this package
// only lists them.
package benchmark

import (
	"slices"

	"deem/internal/benchmark"
	"deem/internal/benchmark/beam"
	"deem/internal/benchmark/convomem"
	"deem/internal/benchmark/evermembench"
	"deem/internal/benchmark/halumem"
	"deem/internal/benchmark/infinitebench"
	"deem/internal/benchmark/locomo"
	"deem/internal/benchmark/longbench"
	"deem/internal/benchmark/longmemeval"
	"deem/internal/benchmark/longmemeval2"
	"deem/internal/benchmark/memoryagentbench"
	"deem/internal/benchmark/personamem"
	"deem/judge"
)

// Benchmark is one entry of the list; the other types are its parts.
type (
	Benchmark = benchmark.Benchmark // see [All]
	Options   = benchmark.Options   // what to read and how
	Set       = benchmark.Set       // the items of a benchmark, read and checked
	Metrics   = benchmark.Metrics   // a benchmark's own metrics
	Judge     = benchmark.Judge     // a rule, or a protocol for a model
	Origin    = benchmark.Origin    // who published a judge
	Param     = benchmark.Param     // an option specific to one benchmark
	Category  = benchmark.Category  // a published category of a benchmark's questions
	Finished  = benchmark.Finished  // the contents of a result file
)

// All returns all benchmarks.
func All() []Benchmark {
	return []Benchmark{
		longmemeval.Benchmark(),
		halumem.Benchmark(),
		locomo.Benchmark(),
		longbench.Benchmark(),
		infinitebench.Benchmark(),
		longmemeval2.Benchmark(),
		beam.Benchmark(),
		personamem.Benchmark(),
		evermembench.Benchmark(),
		convomem.Benchmark(),
		memoryagentbench.Benchmark(func(reading string) (judge.Readable, error) { return longmemeval.Protocol(reading) }),
	}
}

// Named returns the benchmark with the given name.
func Named(name string) (Benchmark, bool) {
	return find(func(b Benchmark) bool { return b.Name == name })
}

// OfJudge returns the benchmark that has a judge with the given name.
func OfJudge(name string) (Benchmark, bool) {
	return find(func(b Benchmark) bool { return slices.Contains(b.Judges, name) })
}

func find(is func(Benchmark) bool) (Benchmark, bool) {
	all := All()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return Benchmark{}, false
}
