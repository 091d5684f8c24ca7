package benchmark

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"deem"
	"deem/internal/benchmark/halumem"
)

func haluMem() Benchmark {
	return Benchmark{
		Name: halumem.Name, About: halumem.About, Where: halumem.Where, Licence: halumem.Licence,
		Note:     "four judges in one run (integrity, accuracy, update, qa): their common mean is nobody's number; HaluMem's own stand below",
		Readings: halumem.Readings(),
		Judges:   append([]string{halumem.Name}, halumem.Vendors()...),
		Judge: func(name string, o Options) (Judge, error) {
			if halumem.Vendor(name) != nil {
				return asked(halumem.VendorProtocol(name, o.Reading))
			}
			return asked(halumem.Protocol(o.Reading))
		},
		Origin: func(name string) Origin { return origin(halumem.Vendor(name)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			questions, err := onlyQuestions(o.Judges)
			if err != nil {
				return nil, err
			}
			return opened(halumem.Open(ctx, halumem.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit, Reading: o.Reading, Questions: questions,
			}))
		},
		Metrics: func(_ context.Context, o Options) (Metrics, error) {
			if questions, _ := onlyQuestions(o.Judges); questions {
				return halumem.NewQuestionMetrics(), nil
			}
			return haluMemMetrics(o), nil
		},
		ResultsName: func(f Finished) string {
			return statsName(f.Options.Data[0])
		},
		WriteResults: writeHaluMem,
	}
}

// onlyQuestions reports whether the judges judge the questions only. Judges of the questions
// and of the four stages have no number in common, so they cannot judge in one run.
func onlyQuestions(judges []string) (bool, error) {
	isVendor := func(name string) bool { return halumem.Vendor(name) != nil }
	i := slices.IndexFunc(judges, isVendor)
	if i < 0 {
		return false, nil
	}
	if slices.Contains(judges, halumem.Name) {
		return false, deem.WithHint(fmt.Errorf("%s judges four stages and %s the questions only, so their scores do not belong in one table", halumem.Name, judges[i]),
			"judge with each in a run of its own")
	}
	return true, nil
}

func haluMemMetrics(o Options) *halumem.Metrics {
	m := halumem.NewMetrics(o.Reading)
	m.MaxUnjudged = o.MaxUnjudged
	return m
}

// writeHaluMem writes upstream's file of numbers.
func writeHaluMem(_ context.Context, w io.Writer, f Finished) (int, error) {
	if f.Judge != halumem.Name {
		return 0, fmt.Errorf("upstream's file has the numbers of four stages, and %s judges the questions only", f.Judge)
	}
	m := haluMemMetrics(f.Options)
	left, err := fed(f, m)
	if err != nil {
		return left, err
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
