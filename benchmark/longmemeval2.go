package benchmark

import (
	"context"
	"io"
	"path/filepath"
	"slices"

	"deem/internal/benchmark/longmemeval2"
)

func longMemEval2() Benchmark {
	return Benchmark{
		Name: longmemeval2.Name, About: longmemeval2.About, Where: longmemeval2.Where, Licence: longmemeval2.Licence,
		Readings: longmemeval2.Readings(),
		Params:   []Param{{"tier", "the size of the haystacks, small or medium: asks for LAFS against the fixed frontier of that size"}},
		Judges:   []string{longmemeval2.Name},
		Judge:    func(_ string, o Options) (Judge, error) { return asked(longmemeval2.Protocol(o.Reading)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			if _, err := longmemeval2.NewMetrics(o.With["tier"]); err != nil {
				return nil, err
			}
			return opened(longmemeval2.Open(ctx, longmemeval2.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
			}))
		},
		Metrics: func(_ context.Context, o Options) (Metrics, error) {
			m, err := longmemeval2.NewMetrics(o.With["tier"])
			if err != nil {
				return nil, err
			}
			return m, nil
		},
		ResultsName: func(f Finished) string {
			files := slices.Concat(f.Options.Responses, f.Options.Data)
			return filepath.Join(filepath.Dir(files[0]), "aggregated_metrics.json")
		},
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			m, err := longmemeval2.NewMetrics("")
			if err != nil {
				return 0, err
			}
			left, err := fed(f, m)
			if err != nil {
				return left, err
			}
			return left, m.WriteResults(w)
		},
	}
}
