package benchmark

import (
	"context"
	"io"

	"deem/benchmark/longmemeval"
	"deem/judge"
)

func longMemEval() Benchmark {
	options := func(o Options) longmemeval.Options {
		return longmemeval.Options{Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit}
	}
	return Benchmark{
		Name: longmemeval.Name, About: longmemeval.About, Where: longmemeval.Where, Licence: longmemeval.Licence,
		Readings: longmemeval.Readings(),
		Open:     func(ctx context.Context, o Options) (Set, error) { return longmemeval.Open(ctx, options(o)) },
		Protocol: func(reading string) (judge.Readable, error) { return longmemeval.Protocol(reading) },
		Restore:  func(id []byte) (judge.Readable, error) { return longmemeval.Restore(id) },
		Metrics:  func(string) Metrics { return longmemeval.NewMetrics() },
		ResultsName: func(f Finished) string {
			files := f.Options.Responses
			if len(files) == 0 {
				files = f.Options.Data // questions and responses in one file
			}
			return longmemeval.ResultsName(files[0], f.Model)
		},
		WriteResults: func(ctx context.Context, w io.Writer, f Finished) (int, error) {
			yes := map[string]bool{}
			for rec, err := range f.Records {
				if err != nil {
					return 0, err
				}
				if rec.Verdict != nil {
					yes[rec.Item.ID] = rec.Verdict.Score == 1
				}
			}
			return longmemeval.WriteResults(ctx, w, options(f.Options), f.Model, func(id string) (label, ok bool) {
				label, ok = yes[id]
				return label, ok
			})
		},
	}
}
