package evermembench

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
		Params:   []benchmark.Param{{Name: "repo", About: "a clone of github.com/EverMind-AI/EverMemBench, from which " + UpstreamName + " reads its prompts"}},
		Judges:   []string{ChoiceName, UpstreamName},
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			if name == ChoiceName {
				return benchmark.Ruled(Choice(o.Reading))
			}
			return benchmark.Cloned(o, Prompts, Protocol)
		},
		Origin: func(name string) benchmark.Origin {
			if name == ChoiceName {
				return benchmark.Origin{About: "questions with options: the option that the response takes; open ones stay unjudged"}
			}
			return benchmark.Origin{
				About: "options by rule, and open answers by a model; the prompts are read from a clone, --with repo=PATH", Vendor: "EverMemBench",
				Source: "github.com/EverMind-AI/EverMemBench at e10b3d5, eval/config/prompts.yaml", Licence: "none found",
			}
		},
		Open:    Open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
		ResultsName: func(f benchmark.Finished) string {
			return filepath.Join(filepath.Dir(slices.Concat(f.Options.Responses, f.Options.Data)[0]), "evaluation_results.json")
		},
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			return WriteResults(w, f.Model, f.Records)
		},
	}
}
