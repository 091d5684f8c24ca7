package panel

import "deem"

// Members returns the names of the members of a panel in order.
func Members(j deem.Judge) []string {
	var names []string
	for _, m := range j.(*panel).members {
		names = append(names, m.Name)
	}
	return names
}

const (
	First    = first
	Majority = majority
	Mean     = mean
	No       = tieNo
	Unsure   = tieUnsure
	Veto     = veto
	Weighted = weighted
	Yes      = tieYes
)

var Rules = rules
