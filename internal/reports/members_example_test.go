package reports_test

import (
	"fmt"

	"deem"
	"deem/internal/reports"
	"deem/judge/panel"
)

// Two judges vote on three items; the panel follows the majority of the votes.
func ExampleNewPanel() {
	b := reports.NewPanel([]string{"match", "universal"}, "majority", false)
	b.Add(deem.Item{}, []panel.Vote{panel.VoteYes, panel.VoteYes}, panel.VoteYes)
	b.Add(deem.Item{}, []panel.Vote{panel.VoteNo, panel.VoteNo}, panel.VoteNo)
	b.Add(deem.Item{}, []panel.Vote{panel.VoteNone, panel.VoteYes}, panel.VoteYes)
	p := b.Panel()
	fmt.Println("items:", p.Items, "members:", len(p.Members))
	// Output: items: 3 members: 2
}
