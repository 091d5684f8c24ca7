package longmemeval2

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Readings: Readings(),
		Params:   []benchmark.Param{{Name: "tier", About: "the size of the haystacks, small or medium: asks for LAFS against the fixed frontier of that size"}},
		Judges:   []string{Name},
		Judge: func(_ string, o benchmark.Options) (benchmark.Judge, error) {
			return benchmark.Asked(Protocol(o.Reading))
		},
		Open: Open,
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			m, err := NewMetrics(o.With["tier"])
			if err != nil {
				return nil, err
			}
			return m, nil
		},
		ResultsName: func(f benchmark.Finished) string {
			files := slices.Concat(f.Options.Responses, f.Options.Data)
			return filepath.Join(filepath.Dir(files[0]), "aggregated_metrics.json")
		},
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			m, err := NewMetrics("")
			if err != nil {
				return 0, err
			}
			left, err := benchmark.Fed(f, m)
			if err != nil {
				return left, err
			}
			return left, m.WriteResults(w)
		},
	}
}
