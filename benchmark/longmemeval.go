package benchmark

import (
	"context"
	"io"
	"maps"
	"slices"

	"deem/internal/benchmark/longmemeval"
)

func longMemEval() Benchmark {
	return Benchmark{
		Name: longmemeval.Name, About: longmemeval.About, Where: longmemeval.Where, Licence: longmemeval.Licence,
		Categories: []Category{
			{ID: "single-session-user", Items: 70, Names: []string{"ss-user", "ssu", "user"}},
			{ID: "single-session-preference", Items: 30, Names: []string{"ss-preference", "ss-pref", "ssp", "preference"}},
			{ID: "single-session-assistant", Items: 56, Names: []string{"ss-assistant", "ss-asst", "ssa", "assistant"}},
			{ID: "multi-session", Items: 133, Names: []string{"ms", "multi"}},
			{ID: "temporal-reasoning", Items: 133, Names: []string{"tr", "temporal", "temp. reasoning"}},
			{ID: "knowledge-update", Items: 78, Names: []string{"ku", "knowl. update"}},
		},
		Readings: longmemeval.Readings(),
		Judges:   append([]string{longmemeval.Name}, slices.Sorted(maps.Keys(longmemeval.Vendors()))...),
		Judge: func(name string, o Options) (Judge, error) {
			if d := longmemeval.Vendors()[name]; d != nil {
				return vendored(d, o.Reading)
			}
			return asked(longmemeval.Protocol(o.Reading))
		},
		Origin: func(name string) Origin { return origin(longmemeval.Vendors()[name]) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(longmemeval.Open(ctx, longMemEvalOptions(o)))
		},
		Metrics: func(context.Context, Options) (Metrics, error) { return longmemeval.NewMetrics(), nil },
		ResultsName: func(f Finished) string {
			files := f.Options.Responses
			if len(files) == 0 {
				files = f.Options.Data // questions and responses in one file
			}
			return longmemeval.ResultsName(files[0], f.Model)
		},
		WriteResults: writeLongMemEval,
	}
}

func longMemEvalOptions(o Options) longmemeval.Options {
	return longmemeval.Options{Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit}
}

// writeLongMemEval writes the file of evaluate_qa.py.
func writeLongMemEval(ctx context.Context, w io.Writer, f Finished) (int, error) {
	yes := map[string]bool{}
	for rec, err := range f.Records {
		if err != nil {
			return 0, err
		}
		if rec.Verdict != nil {
			yes[rec.Item.ID] = rec.Verdict.Score == 1
		}
	}
	return longmemeval.WriteResults(ctx, w, longMemEvalOptions(f.Options), f.Model, func(id string) (label, ok bool) {
		label, ok = yes[id]
		return label, ok
	})
}
