package infinitebench_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/benchmark/infinitebench"
)

// Score the predictions of a system by the published rules. No model is used.
func Example() {
	ctx := context.Background()
	set, err := infinitebench.Open(ctx, infinitebench.Options{Data: []string{"../../../examples/infinitebench/results/tiny-model"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rule, err := infinitebench.Judge(infinitebench.Upstream)
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := infinitebench.NewMetrics(infinitebench.Upstream)
	for rec, err := range deem.Run(ctx, set.Items(), rule, deem.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		metrics.Add(rec)
	}
	for _, l := range metrics.Tasks() {
		fmt.Printf("%s %.2f, n=%d\n", l.Name, 100**l.Mean, l.N)
	}
	// Output:
	// passkey 50.00, n=2
	// kv_retrieval 50.00, n=2
	// longbook_choice_eng 66.67, n=3
	// longdialogue_qa_eng 66.67, n=3
	// longbook_qa_chn 62.50, n=2
	// code_debug 66.67, n=3
	// code_run 50.00, n=2
}
