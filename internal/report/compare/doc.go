// Package compare sets two or more runs beside each other, item by item, and says
// which system is better, by how much, and whether that is more than noise.
//
// Two systems gave different responses, so their datasets never have one hash: runs
// are paired by the ids of their items. [Join] turns the records of several runs into
// rows of one item each, a [Builder] gathers rows into a [Comparison], and a
// comparison is written as text, JSON or a page. The texts of items are not kept; the
// few items on which the systems differ are named, and the caller that shows them reads them
// once more.
//
// A comparison first asks whether it is fair: the same judge, the same questions,
// the same right answers, the same categories. When it is not, it says what differs
// and refuses to compare, unless it is told to go on; then it warns.
//
// Unjudged is not wrong here either. An item that one run has no verdict for is
// unpaired and says nothing about the difference; the strict difference, in which
// every failure counts as wrong, stands beside. When too many items are unjudged,
// the difference is withheld.
package compare
