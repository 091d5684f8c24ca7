// Package agree compares a judge with people, or with another judge.
//
// [New] returns a [Builder], which is given every item of a run with the judge's verdict
// and its human label, if any. Its [Agreement] shows how well the two agree and where they
// differ, which errors the judge makes, an estimate of the run's score if people had judged
// everything, and how many more labels would make that estimate more precise. [Draw]
// selects the items to label. [Pairs] is the short form for two judges over the same items,
// used at the end of a report of several runs.
//
// A verdict is a yes if it passes or, without a pass mark, if its score is at least one
// half. Agreement is about yes and no; if both sides give other scores, these are compared
// as well.
package agree
