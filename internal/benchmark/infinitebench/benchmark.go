package infinitebench

import (
	"context"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindLongContext,
		Note:     "each task has a metric of its own: the common mean weighs tasks by their items; InfiniteBench's own numbers stand below",
		Readings: benchmark.Readings(),
		Params:   []benchmark.Param{{Name: "system", About: "the name of the system under test, if its folder does not say: one rule depends on it"}},
		Judges:   []string{Name},
		Judge:    func(_ string, o benchmark.Options) (benchmark.Judge, error) { return benchmark.Ruled(Judge(o.Reading)) },
		Open:     Open,
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			return NewMetrics(o.Reading), nil
		},
	}
}
