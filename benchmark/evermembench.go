package benchmark

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"deem/internal/benchmark/evermembench"
)

func everMemBench() Benchmark {
	return Benchmark{
		Name: evermembench.Name, About: evermembench.About, Where: evermembench.Where, Licence: evermembench.Licence,
		Readings: evermembench.Readings(),
		Params:   []Param{{"repo", "a clone of github.com/EverMind-AI/EverMemBench, from which " + evermembench.UpstreamName + " reads its prompts"}},
		Judges:   []string{evermembench.ChoiceName, evermembench.UpstreamName},
		Judge: func(name string, o Options) (Judge, error) {
			if name == evermembench.ChoiceName {
				return ruled(evermembench.Choice(o.Reading))
			}
			return cloned(o, evermembench.Prompts, evermembench.Protocol)
		},
		Origin: func(name string) Origin {
			if name == evermembench.ChoiceName {
				return Origin{About: "questions with options: the option that the response takes; open ones stay unjudged"}
			}
			return Origin{
				"options by rule, and open answers by a model; the prompts are read from a clone, --with repo=PATH", "EverMemBench", "",
				"github.com/EverMind-AI/EverMemBench at e10b3d5, eval/config/prompts.yaml", "none found",
			}
		},
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(evermembench.Open(ctx, evermembench.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
				Choices: !slices.ContainsFunc(o.Judges, func(name string) bool { return name != evermembench.ChoiceName }),
			}))
		},
		Metrics: func(context.Context, Options) (Metrics, error) { return evermembench.NewMetrics(), nil },
		ResultsName: func(f Finished) string {
			return filepath.Join(filepath.Dir(slices.Concat(f.Options.Responses, f.Options.Data)[0]), "evaluation_results.json")
		},
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			return evermembench.WriteResults(w, f.Model, f.Records)
		},
	}
}
