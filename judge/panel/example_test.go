package panel_test

import (
	"context"
	"fmt"

	"deem"
	"deem/judge/match"
	"deem/judge/panel"
	"deem/judge/rule"
)

// Three rules vote, and the majority decides.
func ExampleNew() {
	members := []panel.Member{{Judge: match.New()}, {Judge: rule.Exact()}, {Judge: rule.Contains()}}
	three, err := panel.New(members, panel.Options{Name: "three"})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := three.Judge(context.Background(), deem.Item{ID: "q1", References: []string{"Porto"}, Response: "In Porto."})
	fmt.Println(v.Label, v.Score, err)
	fmt.Println(v.Aspects["member/match"], v.Aspects["member/exact"], v.Aspects["member/contains"])
	// Output:
	// yes 1 <nil>
	// 1 0 1
}
