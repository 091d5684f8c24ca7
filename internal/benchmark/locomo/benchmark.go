package locomo

import (
	"cmp"
	"context"
	"io"
	"slices"

	"deem/internal/benchmark"
	"deem/judge"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: Name, About: About, Where: Where, Licence: Licence, Kind: benchmark.KindMemory,
		Categories: Categories(), Conversations: Conversations(), Readings: append(Readings(), judge.Strict), Histories: true,
		Params: []benchmark.Param{
			{Name: "category5", About: "what becomes of the adversarial questions: excluded (the default), phrases or abstention"},
			{Name: "system", About: "which of several systems in upstream's file is judged"},
		},
		Policy: func(with map[string]string) string {
			return "category 5 (adversarial): " + cmp.Or(with["category5"], string(Excluded))
		},
		Judges: append([]string{F1Name, StrictName, LenientName}, Vendors()...),
		Judge: func(name string, o benchmark.Options) (benchmark.Judge, error) {
			policy := Policy(o.With["category5"])
			if name == F1Name {
				return benchmark.Ruled(NewF1(o.Reading, policy))
			}
			j, err := benchmark.Asked(Protocol(name, o.Reading, policy))
			j.Votes = Declared(name).Votes
			return j, err
		},
		Origin: func(name string) benchmark.Origin { return benchmark.OriginOf(Declared(name)) },
		Open:   Open,
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			return NewMetrics(Policy(o.With["category5"]), o.Reading), nil
		},
		ItemID: CanonicalID,
		ResultsName: func(f benchmark.Finished) string {
			files := slices.Concat(f.Options.Responses, f.Options.Data)
			return ResultsName(files[0], f.Judge)
		},
		WriteResults: func(_ context.Context, w io.Writer, f benchmark.Finished) (int, error) {
			return WriteResults(w, f.Records)
		},
	}
}
