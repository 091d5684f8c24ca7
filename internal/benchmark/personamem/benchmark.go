package personamem

import (
	"context"
	"io"
	"slices"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Readings: Readings(),
		Params:   []benchmark.Param{{Name: "repo", About: "a clone of github.com/bowen-upenn/PersonaMem-v2, from which " + OpenName + " reads its prompts"}},
		Judges:   []string{ChoiceName, OpenName},
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			if name == ChoiceName {
				return benchmark.Ruled(Choice(o.Reading))
			}
			return benchmark.Cloned(o, Prompts, Protocol)
		},
		Origin: func(name string) benchmark.Origin {
			if name == ChoiceName {
				return benchmark.Origin{About: "the option that the response takes, among those that it was shown"}
			}
			return benchmark.Origin{
				About: "how well an open answer follows the preference, from 0 to 1; the prompts are read from a clone, --with repo=PATH", Vendor: "PersonaMem v2", Date: "2026-03-07",
				Source: "github.com/bowen-upenn/PersonaMem-v2 at fc16030, inference_utils.py", Licence: "none found",
			}
		},
		Open:    Open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
		ResultsName: func(f benchmark.Finished) string {
			return ResultsName(slices.Concat(f.Options.Responses, f.Options.Data)[0], f.Judge)
		},
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			return WriteResults(w, f.Records)
		},
	}
}
