package benchmark

import (
	"context"
	"io"
	"slices"

	"deem/internal/benchmark/personamem"
)

func personaMem() Benchmark {
	return Benchmark{
		Name: personamem.Name, About: personamem.About, Where: personamem.Where, Licence: personamem.Licence,
		Readings: personamem.Readings(),
		Params:   []Param{{"repo", "a clone of github.com/bowen-upenn/PersonaMem-v2, from which " + personamem.OpenName + " reads its prompts"}},
		Judges:   []string{personamem.ChoiceName, personamem.OpenName},
		Judge: func(name string, o Options) (Judge, error) {
			if name == personamem.ChoiceName {
				return ruled(personamem.Choice(o.Reading))
			}
			return cloned(o, personamem.Prompts, personamem.Protocol)
		},
		Origin: func(name string) Origin {
			if name == personamem.ChoiceName {
				return Origin{About: "the option that the response takes, among those that it was shown"}
			}
			return Origin{
				"how well an open answer follows the preference, from 0 to 1; the prompts are read from a clone, --with repo=PATH", "PersonaMem v2", "2026-03-07",
				"github.com/bowen-upenn/PersonaMem-v2 at fc16030, inference_utils.py", "none found",
			}
		},
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(personamem.Open(ctx, personamem.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
			}))
		},
		Metrics: func(context.Context, Options) (Metrics, error) { return personamem.NewMetrics(), nil },
		ResultsName: func(f Finished) string {
			return personamem.ResultsName(slices.Concat(f.Options.Responses, f.Options.Data)[0], f.Judge)
		},
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			return personamem.WriteResults(w, f.Records)
		},
	}
}
