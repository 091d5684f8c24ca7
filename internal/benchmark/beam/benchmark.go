package beam

import (
	"context"
	"io"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Note:     "BEAM's judges differ in prompt, reading and event ordering: numbers of one do not stand in one table with those of another",
		Readings: Readings(),
		Params:   []benchmark.Param{{Name: "repo", About: "a clone of github.com/mohammadtavakoli78/BEAM, from which beam/upstream reads its prompts"}},
		Judges:   Judges(),
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			return benchmark.Asked(Protocol(name, o))
		},
		Origin:      OriginOf,
		Open:        Open,
		Metrics:     func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
		ResultsName: func(f benchmark.Finished) string { return ResultsName(f.Options.Data[0]) },
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			return WriteResults(w, f.Records)
		},
	}
}
