// Package benchmark lists the benchmarks. A benchmark consists of a reader for its files,
// its judges and its metrics, all as published. Each is a separate package; this package
// only lists them.
package benchmark

import (
	"deem/internal/benchmark"
	"deem/internal/benchmark/babilong"
	"deem/internal/benchmark/beam"
	"deem/internal/benchmark/clbench"
	"deem/internal/benchmark/convomem"
	"deem/internal/benchmark/evermembench"
	"deem/internal/benchmark/forgeteval"
	"deem/internal/benchmark/graphwalks"
	"deem/internal/benchmark/halumem"
	"deem/internal/benchmark/infinitebench"
	"deem/internal/benchmark/locomo"
	"deem/internal/benchmark/locomoplus"
	"deem/internal/benchmark/longbench"
	"deem/internal/benchmark/longmemeval"
	"deem/internal/benchmark/longmemeval2"
	"deem/internal/benchmark/memoryagentbench"
	"deem/internal/benchmark/mrcr"
	"deem/internal/benchmark/oolong"
	"deem/internal/benchmark/personamem"
	"deem/internal/benchmark/ruler"
	"deem/judge"
)

type (
	// A Benchmark is one entry of the list.
	Benchmark = benchmark.Benchmark

	// Options says what to read and how.
	Options = benchmark.Options

	// A Set contains the items of a benchmark, read and checked.
	Set = benchmark.Set

	// Metrics are a benchmark's own metrics.
	Metrics = benchmark.Metrics

	// A Judge is a rule, or a protocol for a model.
	Judge = benchmark.Judge

	// An Origin says who published a judge.
	Origin = benchmark.Origin

	// A Param is an option specific to one benchmark.
	Param = benchmark.Param

	// A Category is a published category of a benchmark's questions.
	Category = benchmark.Category

	// A Finished run is the input of a result file.
	Finished = benchmark.Finished

	// A List finds a benchmark by its name or by that of one of its judges.
	List = benchmark.List
)

// Packages below this one find benchmarks by name in the same list.
func init() { benchmark.Use(All) }

// All returns all benchmarks.
func All() List {
	return List{
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
		mrcr.Benchmark(),
		graphwalks.Benchmark(),
		ruler.Benchmark(),
		babilong.Benchmark(),
		oolong.Benchmark(),
		clbench.Benchmark(),
		forgeteval.Benchmark(),
		locomoplus.Benchmark(),
	}
}
