package longbench

import (
	"context"
	"io"
	"path/filepath"

	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindLongContext,
		Note:     "each task has a metric of its own: the common mean weighs tasks by their items; LongBench's own numbers stand below",
		Readings: benchmark.Readings(),
		Params:   []benchmark.Param{{Name: "edition", About: "which files these are, if they do not say: v1, e or v2"}},
		Judges:   []string{Name},
		Judge:    func(_ string, o benchmark.Options) (benchmark.Judge, error) { return benchmark.Ruled(Judge(o.Reading)) },
		Open:     Open,
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			return NewMetrics(o.Reading), nil
		},
		ResultsName: func(f benchmark.Finished) string {
			dir := f.Options.Data[0]
			if filepath.Ext(dir) != "" {
				dir = filepath.Dir(dir) // of a file
			}
			return filepath.Join(dir, "result.json")
		},
		WriteResults: writeFinished,
	}
}

// writeFinished writes upstream's result.json.
func writeFinished(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
	m := NewMetrics(f.Options.Reading)
	if _, err := benchmark.Fed(f, m); err != nil {
		return 0, err
	}
	_, err := io.WriteString(w, m.Upstream())
	return len(m.Unjudged()), err
}
