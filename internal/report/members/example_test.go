package members_test

import (
	"fmt"

	"deem/internal/report/members"
)

// Two judges vote on three items; the panel follows the majority of those who voted.
func ExampleNewPanel() {
	b := members.NewPanel([]string{"match", "universal"}, "majority", false)
	b.Add([]members.Vote{members.Yes, members.Yes}, members.Yes)
	b.Add([]members.Vote{members.No, members.No}, members.No)
	b.Add([]members.Vote{members.None, members.Yes}, members.Yes)
	p := b.Panel()
	fmt.Println("items:", p.Items, "members:", len(p.Members))
	// Output: items: 3 members: 2
}
