// Package toy is a benchmark of three-letter words.
package toy

import (
	"context"

	"deem"
	"deem/internal/benchmark"
	"deem/judge/rule"
)

// Benchmark returns the entry for the list of benchmarks.
func Benchmark() benchmark.Benchmark {
	return benchmark.Benchmark{
		Name: "toy", About: "words of three letters", Where: "nowhere", Licence: "Apache-2.0",
		Readings: []string{"upstream"},
		Judges:   []string{"toy/exact"},
		Judge: func(string, benchmark.Options) (benchmark.Judge, error) {
			j, _ := rule.Named("exact")
			return benchmark.Judge{Rule: j}, nil
		},
		Open: open,
		Metrics: func(context.Context, benchmark.Options) (benchmark.Metrics, error) {
			return &benchmark.Table{Benchmark: "toy"}, nil
		},
	}
}

func open(ctx context.Context, o benchmark.Options) (benchmark.Set, error) {
	var items []deem.Item
	var problems benchmark.Problems
	notes, err := benchmark.Visit(ctx, benchmark.Input{Names: o.Data, Stdin: o.Stdin}, &problems, func(row *benchmark.Row) error {
		items = append(items, deem.Item{
			ID: row.Get("id").Str(), Question: row.Get("riddle").Str(),
			References: []string{row.Get("word").Str()}, Response: row.Get("guess").Str(),
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	held, err := benchmark.Hold(items, o.Data, notes)
	return &held, err
}

