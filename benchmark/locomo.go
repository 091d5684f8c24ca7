package benchmark

import (
	"context"
	"io"
	"slices"

	"deem/internal/benchmark/locomo"
	"deem/judge"
)

func loCoMo() Benchmark {
	return Benchmark{
		Name: locomo.Name, About: locomo.About, Where: locomo.Where, Licence: locomo.Licence,
		Categories: loCoMoCategories(), Readings: append(locomo.Readings(), judge.Strict),
		Params: []Param{
			{"category5", "what becomes of the adversarial questions: excluded (the default), phrases or abstention"},
			{"system", "which of several systems in upstream's file is judged"},
		},
		Judges: append([]string{locomo.F1Name, locomo.StrictName, locomo.LenientName}, locomo.Vendors()...),
		Judge: func(name string, o Options) (Judge, error) {
			policy := locomo.Policy(o.With["category5"])
			if name == locomo.F1Name {
				return ruled(locomo.NewF1(o.Reading, policy))
			}
			j, err := asked(locomo.Protocol(name, o.Reading, policy))
			j.Votes = locomo.Declared(name).Votes
			return j, err
		},
		Origin: func(name string) Origin { return origin(locomo.Declared(name)) },
		Open: func(ctx context.Context, o Options) (Set, error) {
			return opened(locomo.Open(ctx, locomo.Options{
				Data: o.Data, Responses: o.Responses, Stdin: o.Stdin, RequireAll: o.RequireAll, Limit: o.Limit,
				Category5: locomo.Policy(o.With["category5"]), System: o.With["system"],
				Evidence: slices.ContainsFunc(o.Judges, locomo.ShowsEvidence),
			}))
		},
		Metrics: func(_ context.Context, o Options) (Metrics, error) {
			return locomo.NewMetrics(locomo.MetricsOptions{Category5: locomo.Policy(o.With["category5"]), Reading: o.Reading}), nil
		},
		ItemID: locomo.CanonicalID,
		ResultsName: func(f Finished) string {
			files := slices.Concat(f.Options.Responses, f.Options.Data)
			return locomo.ResultsName(files[0], f.Judge)
		},
		WriteResults: func(_ context.Context, w io.Writer, f Finished) (int, error) {
			return locomo.WriteResults(w, f.Records)
		},
	}
}

// loCoMoCategories returns the categories of locomo10.json. The faults are those that
// github.com/dial481/locomo-audit lists as moving a score.
func loCoMoCategories() []Category {
	list := []Category{
		{ID: locomo.MultiHop, Items: 282, Faulty: 28},
		{ID: locomo.Temporal, Items: 321, Faulty: 26},
		{ID: locomo.OpenDomain, Items: 96, Faulty: 9},
		{ID: locomo.SingleHop, Items: 841, Faulty: 36},
		{ID: locomo.Adversarial, Items: 446, Optional: true},
	}
	for i, c := range locomo.Categories() {
		list[i].Name = c.Name
	}
	return list
}
