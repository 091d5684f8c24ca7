package benchmark

import (
	"context"
	"io"
	"strings"

	"deem/benchmark/halumem"
)

func haluMem() Benchmark {
	return Benchmark{
		Name: halumem.Name, About: halumem.About, Where: halumem.Where, Licence: halumem.Licence,
		Note:     "four judges in one run (integrity, accuracy, update, qa): their common mean is nobody's number; HaluMem's own stand below",
		Readings: halumem.Readings(),
		Judges:   []string{halumem.Name},
		Judge:    func(_ string, o Options) (Judge, error) { return asked(halumem.Protocol(o.Reading)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(halumem.Open(ctx, halumem.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit, Reading: o.Reading,
			}))
		},
		Metrics: func(_ context.Context, o Options) (Metrics, error) { return haluMemMetrics(o), nil },
		ResultsName: func(f Finished) string {
			return statsName(f.Options.Data[0])
		},
		WriteResults: writeHaluMem,
	}
}

func haluMemMetrics(o Options) *halumem.Metrics {
	m := halumem.NewMetrics(o.Reading)
	m.MaxUnjudged = o.MaxUnjudged
	return m
}

// writeHaluMem writes upstream's file of numbers.
func writeHaluMem(_ context.Context, w io.Writer, f Finished) (int, error) {
	m := haluMemMetrics(f.Options)
	left := 0
	for rec, err := range f.Records {
		if err != nil {
			return 0, err
		}
		if rec.Verdict == nil {
			left++
		}
		m.Add(rec)
	}
	return left, m.WriteStats(w)
}

// statsName returns the name of upstream's file of numbers beside the file that was
// judged: <frame>_eval_stat_result.json beside <frame>_eval_results.jsonl.
func statsName(data string) string {
	frame, ok := strings.CutSuffix(data, "_eval_results.jsonl")
	if !ok {
		frame = strings.TrimSuffix(data, ".jsonl")
	}
	return frame + "_eval_stat_result.json"
}
