package findings_test

import (
	"fmt"

	"deem/internal/findings"
)

// Two judges vote on three items; the panel follows the majority of the votes.
func ExampleNewPanel() {
	b := findings.NewPanel([]string{"match", "universal"}, "majority", false)
	b.Add([]findings.Vote{findings.Yes, findings.Yes}, findings.Yes)
	b.Add([]findings.Vote{findings.No, findings.No}, findings.No)
	b.Add([]findings.Vote{findings.None, findings.Yes}, findings.Yes)
	p := b.Panel()
	fmt.Println("items:", p.Items, "members:", len(p.Members))
	// Output: items: 3 members: 2
}
