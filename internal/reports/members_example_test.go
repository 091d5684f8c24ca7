package reports_test

import (
	"fmt"

	"deem/internal/reports"
)

// Two judges vote on three items; the panel follows the majority of the votes.
func ExampleNewPanel() {
	b := reports.NewPanel([]string{"match", "universal"}, "majority", false)
	b.Add([]reports.Vote{reports.Yes, reports.Yes}, reports.Yes)
	b.Add([]reports.Vote{reports.No, reports.No}, reports.No)
	b.Add([]reports.Vote{reports.None, reports.Yes}, reports.Yes)
	p := b.Panel()
	fmt.Println("items:", p.Items, "members:", len(p.Members))
	// Output: items: 3 members: 2
}
