package rule_test

import (
	"context"
	"fmt"

	"deem"
	"deem/judge/rule"
)

// A rule is found by name and used like any other judge.
func ExampleNamed() {
	it := deem.Item{Question: "Who wrote it?", References: []string{"Ada Brandt"}, Response: "It was Ada Brandt, in 1998."}
	for _, name := range []string{"exact", "contains", "f1"} {
		judge, ok := rule.Named(name)
		if !ok {
			continue
		}
		v, err := judge.Judge(context.Background(), it)
		fmt.Printf("%s: %.2f %v\n", name, v.Score, err)
	}
	// Output:
	// exact: 0.00 <nil>
	// contains: 1.00 <nil>
	// f1: 0.50 <nil>
}
