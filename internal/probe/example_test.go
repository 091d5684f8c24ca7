package probe_test

import (
	"context"
	"fmt"

	"deem"
	"deem/internal/probe"
	"deem/judge/match"
)

// Right and wrong answers are made from the references of items, and a judge is asked about
// them.
func Example() {
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(deem.Item{ID: "q1", Question: "How long was the trip?", References: []string{"18 days"}}, nil) &&
			yield(deem.Item{ID: "q2", Question: "How many hives has Mara?", References: []string{"5"}}, nil)
	}
	set, err := probe.Make(items, probe.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	j := match.New()
	card, err := probe.NewCard(probe.Head{Judge: j.Name()}, deem.Run(context.Background(), set.Items(), j, deem.Options{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	off, _ := card.Rate("off-by-one")
	fmt.Println(off.Kind, "answers judged:", off.Judged, "accepted:", off.Errors)
	// Output: off-by-one answers judged: 2 accepted: 0
}
