package benchmark

import (
	"context"

	"deem/internal/benchmark/infinitebench"
)

func infiniteBench() Benchmark {
	return Benchmark{
		Name: infinitebench.Name, About: infinitebench.About, Where: infinitebench.Where, Licence: infinitebench.Licence,
		Note:     "each task has a metric of its own: the common mean weighs tasks by their items; InfiniteBench's own numbers stand below",
		Readings: infinitebench.Readings(),
		Params:   []Param{{"system", "the name of the system under test, if its folder does not say: one rule depends on it"}},
		Judges:   []string{infinitebench.Name},
		Judge:    func(_ string, o Options) (Judge, error) { return ruled(infinitebench.Judge(o.Reading)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(infinitebench.Open(ctx, infinitebench.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit, System: o.With["system"],
			}))
		},
		Metrics: func(_ context.Context, o Options) (Metrics, error) { return infinitebench.NewMetrics(o.Reading), nil },
	}
}
