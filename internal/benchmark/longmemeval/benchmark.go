package longmemeval

import (
	"context"
	"io"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Categories: []benchmark.Category{
			{ID: "single-session-user", Items: 70, Names: []string{"ss-user", "ssu", "user"}},
			{ID: "single-session-preference", Items: 30, Names: []string{"ss-preference", "ss-pref", "ssp", "preference"}},
			{ID: "single-session-assistant", Items: 56, Names: []string{"ss-assistant", "ss-asst", "ssa", "assistant"}},
			{ID: "multi-session", Items: 133, Names: []string{"ms", "multi"}},
			{ID: "temporal-reasoning", Items: 133, Names: []string{"tr", "temporal", "temp. reasoning"}},
			{ID: "knowledge-update", Items: 78, Names: []string{"ku", "knowl. update"}},
		},
		Readings: Readings(), Histories: true,
		Judges: append([]string{Name}, benchmark.DeclaredNames(vendorFiles, Name)...),
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			if d := Vendors()[name]; d != nil {
				return benchmark.Vendored(d, o.Reading)
			}
			return benchmark.Asked(Protocol(o.Reading))
		},
		Origin:  func(name string) benchmark.Origin { return benchmark.OriginOf(Vendors()[name]) },
		Open:    Open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) { return NewMetrics(), nil },
		ResultsName: func(f benchmark.Finished) string {
			files := f.Options.Responses
			if len(files) == 0 {
				files = f.Options.Data // questions and responses in one file
			}
			return ResultsName(files[0], f.Model)
		},
		WriteResults: writeFinished,
	}
}

// writeFinished writes the file of evaluate_qa.py.
func writeFinished(ctx context.Context, w io.Writer, f benchmark.Finished) (int, error) {
	yes := map[string]bool{}
	for rec, err := range f.Records {
		if err != nil {
			return 0, err
		}
		if rec.Verdict != nil {
			yes[rec.Item.ID] = rec.Verdict.Score == 1
		}
	}
	return WriteResults(ctx, w, f.Options, f.Model, func(id string) (label, ok bool) {
		label, ok = yes[id]
		return label, ok
	})
}
