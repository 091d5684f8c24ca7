// Package benchmark is the table of benchmarks. A benchmark is a reader for its
// files, the judges that go with it, and its metrics, all as published; each lives
// in a folder of its own, and this package names them and does nothing else.
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

// What a benchmark is made of.
type (
	Benchmark = benchmark.Benchmark // one row of the table
	Options   = benchmark.Options   // what to read and how
	Set       = benchmark.Set       // the items of a benchmark, read and checked
	Metrics   = benchmark.Metrics   // a benchmark's own numbers
	Judge     = benchmark.Judge     // a rule, or a protocol for a model
	Origin    = benchmark.Origin    // who published a judge
	Param     = benchmark.Param     // an option that one benchmark has and others do not
	Category  = benchmark.Category  // a part of a benchmark's questions, as published
	Finished  = benchmark.Finished  // what a result file is made of
)

// All returns the benchmarks that deem knows.
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

// Named returns the benchmark of that name.
func Named(name string) (Benchmark, bool) {
	return find(func(b Benchmark) bool { return b.Name == name })
}

// OfJudge returns the benchmark that has a judge of that name.
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
