package longbench_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark/longbench"
)

// Score the predictions of a system by the published rules. No model is used.
func Example() {
	ctx := context.Background()
	set, err := longbench.Open(ctx, longbench.Options{Data: []string{"../../../examples/longbench/pred/tiny-model"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, err := longbench.Judge(longbench.Upstream)
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := longbench.NewMetrics(longbench.Upstream)
	for rec, err := range deem.Run(ctx, set.Items(), rule, deem.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		metrics.Add(rec)
	}
	for _, l := range metrics.Tasks() {
		fmt.Printf("%s %.2f, n=%d\n", l.Name, *l.Score, l.N)
	}
	// Output:
	// multifieldqa_zh 27.78, n=3
	// hotpotqa 52.38, n=3
	// gov_report 46.43, n=2
	// trec 66.67, n=3
	// passage_count 75.00, n=2
	// lcc 95.00, n=2
}
