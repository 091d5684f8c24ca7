package longmemeval_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/judge"
	"deem/model/replay"
)

// Score a system's answers with the published prompts. The replies are recorded; with
// openai:gpt-4o-2024-08-06 instead, the scores are those of the paper's judge.
func Example() {
	ctx := context.Background()
	set, err := longmemeval.Open(ctx, longmemeval.Options{
		Data:      []string{"../../../examples/longmemeval/questions.json"},
		Responses: []string{"../../../examples/longmemeval/hypotheses.jsonl"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	protocol, err := longmemeval.Protocol(longmemeval.Upstream)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := replay.Open("../../../examples/longmemeval/replies.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := longmemeval.NewMetrics()
	for rec, err := range deem.Run(ctx, set.Items(), judge.New(protocol, m), deem.Options{Concurrency: 1}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		metrics.Add(rec)
	}
	for _, l := range []longmemeval.Line{metrics.TaskAveraged(), metrics.Overall()} {
		fmt.Printf("%s %.4f [%.3f, %.3f], n=%d\n", l.Name, l.Estimate.Value, l.Estimate.Lo, l.Estimate.Hi, l.N)
	}
	// Output:
	// task-averaged 0.5000 [0.269, 0.731], n=14
	// overall 0.5000 [0.268, 0.732], n=14
}
