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
		Name: Name, About: About, Where: Where, Licence: Licence,
		Categories: categories(), Readings: append(Readings(), judge.Strict),
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
		Open: func(ctx context.Context, o benchmark.Options) (benchmark.Set, error) {
			return benchmark.Opened(Open(ctx, Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
				Category5: Policy(o.With["category5"]), System: o.With["system"],
				Evidence: slices.ContainsFunc(o.Judges, ShowsEvidence),
			}))
		},
		Metrics: func(_ context.Context, o benchmark.Options) (benchmark.Metrics, error) {
			return NewMetrics(MetricsOptions{Category5: Policy(o.With["category5"]), Reading: o.Reading}), nil
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

// categories returns the categories of locomo10.json. The faulty items are those that
// github.com/dial481/locomo-audit lists as affecting a score.
func categories() []benchmark.Category {
	list := []benchmark.Category{
		{ID: MultiHop, Items: 282, Faulty: 28},
		{ID: Temporal, Items: 321, Faulty: 26},
		{ID: OpenDomain, Items: 96, Faulty: 9},
		{ID: SingleHop, Items: 841, Faulty: 36},
		{ID: Adversarial, Items: 446, Optional: true},
	}
	for i, c := range Categories() {
		list[i].Name = c.Name
	}
	return list
}
