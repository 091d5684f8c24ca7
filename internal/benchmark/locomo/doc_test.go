package locomo_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark/locomo"
)

// Score a system's answers by the published rule, with category 5 by its phrases.
func Example() {
	ctx := context.Background()
	set, err := locomo.Open(ctx, locomo.Options{
		Data:      []string{"../../../examples/locomo/conversations.json"},
		Responses: []string{"../../../examples/locomo/responses.jsonl"},
		With:      map[string]string{"category5": string(locomo.Phrases)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, err := locomo.NewF1(locomo.Upstream, locomo.Phrases)
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := locomo.NewMetrics(locomo.Phrases, locomo.Upstream)
	for rec, err := range deem.Run(ctx, set.Items(), rule, deem.Options{Concurrency: 1}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		metrics.Add(rec)
	}
	for _, l := range append(metrics.Categories(), metrics.Overall()) {
		fmt.Printf("%s %s: %.3f, n=%d\n", l.Category, l.Name, l.Estimate.Value, l.N)
	}
	// Output:
	// 1 multi-hop: 0.472, n=2
	// 2 temporal: 0.603, n=3
	// 3 open-domain: 0.234, n=2
	// 4 single-hop: 0.627, n=5
	// 5 adversarial: 0.333, n=3
	//  overall: 0.490, n=15
}
