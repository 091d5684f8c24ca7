package dataset

import "slices"

// A Column is a part of an item and the columns that are recognised as holding it.
type Column struct {
	Target string
	Names  []string // our own name first
}

// Columns returns the parts of an item in the order of the mapping's targets, with
// the columns that are recognised without a mapping.
func Columns() []Column {
	var list []Column
	for _, t := range targets {
		if names := aliases[t]; len(names) > 0 {
			list = append(list, Column{Target: t, Names: slices.Clone(names)})
		}
	}
	return list
}
