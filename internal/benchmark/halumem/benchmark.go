package halumem

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindHallucination,
		Note:     "four judges in one run (integrity, accuracy, update, qa): their common mean is nobody's number; HaluMem's own stand below",
		Readings: Readings(),
		Judges:   append([]string{Name}, Vendors()...),
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			if Vendor(name) != nil {
				return benchmark.Asked(VendorProtocol(name, o.Reading))
			}
			return benchmark.Asked(Protocol(o.Reading))
		},
		Origin: func(name string) benchmark.Origin { return benchmark.OriginOf(Vendor(name)) },
		Open:   Open,
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			if questions, _ := onlyQuestions(o.Judges); questions {
				return NewQuestionMetrics(), nil
			}
			return metricsOf(o), nil
		},
		ResultsName: func(f benchmark.Finished) string {
			// In the folder of the judged file, as upstream names it.
			frame, ok := strings.CutSuffix(f.Options.Data[0], "_eval_results.jsonl")
			if !ok {
				frame = strings.TrimSuffix(frame, ".jsonl")
			}
			return frame + "_eval_stat_result.json"
		},
		WriteResults: writeFinished,
		ReadResults:  ReadResults,
	}
}

// onlyQuestions reports whether the judges judge only the questions. Judges of the
// questions and of the four stages have no metric in common, so they cannot be used in the
// same run.
func onlyQuestions(judges []string) (bool, error) {
	isVendor := func(name string) bool { return Vendor(name) != nil }
	i := slices.IndexFunc(judges, isVendor)
	if i < 0 {
		return false, nil
	}
	if slices.Contains(judges, Name) {
		return false, deem.WithHint(fmt.Errorf("%s judges four stages and %s the questions only, so their scores do not belong in one table", Name, judges[i]),
			"judge with each in a run of its own")
	}
	return true, nil
}

func metricsOf(o benchmark.Options) *Metrics {
	m := NewMetrics(o.Reading)
	m.MaxUnjudged = o.MaxUnjudged
	return m
}

// writeFinished writes upstream's file of statistics.
func writeFinished(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
	if f.Judge != Name {
		return 0, fmt.Errorf("upstream's file has the numbers of four stages, and %s judges the questions only", f.Judge)
	}
	m := metricsOf(f.Options)
	left, err := benchmark.Fed(f, m)
	if err != nil {
		return left, err
	}
	return left, m.WriteStats(w)
}
