package convomem

import (
	"context"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Readings: Readings(),
		Judges:   []string{Name},
		Judge: func(_ string, o benchmark.Options) (benchmark.Judge, error) {
			return benchmark.Asked(Protocol(o.Reading))
		},
		Open:    Open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
	}
}
