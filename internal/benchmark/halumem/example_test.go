package halumem_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark/halumem"
	"deem/judge"
	"deem/model/replay"
)

// Judge what a memory system extracted, updated and answered, with recorded replies.
func Example() {
	ctx := context.Background()
	set, err := halumem.Open(ctx, halumem.Options{Data: []string{"../../../examples/halumem/tiny_eval_results.jsonl"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	protocol, err := halumem.Protocol(halumem.Upstream)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := replay.Open("../../../examples/halumem/replies.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := halumem.NewMetrics(halumem.Upstream)
	for rec, err := range deem.Run(ctx, set.Items(), judge.New(protocol, m), deem.Options{Concurrency: 1}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		metrics.Add(rec)
	}
	s := metrics.Summary()
	fmt.Println(s.Benchmark, "items:", s.Items, "unjudged:", s.Unjudged)
	// Output:
	// halumem items: 18 unjudged: 0
}
