package benchmark

import (
	"context"
	"io"
	"path/filepath"

	"deem/internal/benchmark/longbench"
)

func longBench() Benchmark {
	return Benchmark{
		Name: longbench.Name, About: longbench.About, Where: longbench.Where, Licence: longbench.Licence,
		Note:     "each task has a metric of its own: the common mean weighs tasks by their items; LongBench's own numbers stand below",
		Readings: longbench.Readings(),
		Params:   []Param{{"edition", "which files these are, if they do not say: v1, e or v2"}},
		Judges:   []string{longbench.Name},
		Judge:    func(_ string, o Options) (Judge, error) { return ruled(longbench.Judge(o.Reading)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(longbench.Open(ctx, longbench.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit, Edition: o.With["edition"],
			}))
		},
		Metrics:      func(_ context.Context, o Options) (Metrics, error) { return longbench.NewMetrics(o.Reading), nil },
		ResultsName:  func(f Finished) string { return filepath.Join(folderOf(f.Options.Data[0]), "result.json") },
		WriteResults: writeLongBench,
	}
}

// writeLongBench writes upstream's result.json.
func writeLongBench(_ context.Context, w io.Writer, f Finished) (int, error) {
	m := longbench.NewMetrics(f.Options.Reading)
	for rec, err := range f.Records {
		if err != nil {
			return 0, err
		}
		m.Add(rec)
	}
	_, err := io.WriteString(w, m.Upstream())
	return len(m.Unjudged()), err
}

// folderOf returns the folder of a file, or the folder itself when it is one.
func folderOf(name string) string {
	if filepath.Ext(name) == "" {
		return name
	}
	return filepath.Dir(name)
}
