package benchmark

import (
	"context"

	"deem/internal/benchmark/convomem"
)

func convoMem() Benchmark {
	return Benchmark{
		Name: convomem.Name, About: convomem.About, Where: convomem.Where, Licence: convomem.Licence,
		Readings: convomem.Readings(),
		Judges:   []string{convomem.Name},
		Judge:    func(_ string, o Options) (Judge, error) { return asked(convomem.Protocol(o.Reading)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(convomem.Open(ctx, convomem.Options{Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, Limit: o.Limit}))
		},
		Metrics: func(context.Context, Options) (Metrics, error) { return convomem.NewMetrics(), nil },
	}
}
