// Package compare compares two or more runs item by item. It shows which system is better,
// by how much, and whether the difference is significant.
//
// Two systems give different responses, so their datasets never have the same hash: runs
// are paired by the ids of their items. [Join] turns the records of several runs into rows
// of one item each, a [Builder] collects rows into a [Comparison], and a comparison is
// written as text, JSON or HTML. The texts of items are not stored; the comparison lists
// the few items on which the systems differ, and a caller that shows them reads them again.
//
// A comparison first checks whether it is fair: the same judge, the same questions, the
// same reference answers, the same categories. If it is not, it lists the differences and
// refuses to compare, unless configured to continue with a warning.
//
// Unjudged is not wrong. An item for which one run has no verdict is unpaired and does not
// affect the difference; the strict difference, in which every failure counts as wrong, is
// also given. If too many items are unjudged, the difference is withheld.
package compare
