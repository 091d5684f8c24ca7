package benchmark

import (
	"context"
	"io"

	"deem/internal/benchmark/beam"
)

func beamBenchmark() Benchmark {
	return Benchmark{
		Name: beam.Name, About: beam.About, Where: beam.Where, Licence: beam.Licence,
		Note:     "BEAM's judges differ in prompt, reading and event ordering: numbers of one do not stand in one table with those of another",
		Readings: beam.Readings(),
		Params:   []Param{{"repo", "a clone of github.com/mohammadtavakoli78/BEAM, from which beam/upstream reads its prompts"}},
		Judges:   beam.Judges(),
		Judge: func(name string, o Options) (Judge, error) {
			return asked(beam.Protocol(beam.ProtocolOptions{Judge: name, Reading: o.Reading, Repo: o.With["repo"], Prompts: o.Prompts}))
		},
		Origin: func(name string) Origin { return Origin(beam.OriginOf(name)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(beam.Open(ctx, beam.Options{Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit}))
		},
		Metrics:     func(context.Context, Options) (Metrics, error) { return beam.NewMetrics(), nil },
		ResultsName: func(f Finished) string { return beam.ResultsName(f.Options.Data[0]) },
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			return beam.WriteResults(w, f.Records)
		},
	}
}
