// Package sensitivity shows how robust a published score is: the claim, the score of the
// rows behind it, the scores of other judges on the same responses, and whether the ranking
// of several systems survives a change of judge.
//
// [New] returns a [Builder] for a list of judges. The others are compared with the first,
// usually the judge of the publication. Each system gets its own part from
// [Builder.System], which is given every item with the verdicts of all judges, and the
// score of each judge. [Builder.Report] then shows the range of scores of a system, the
// agreement of judges, the items whose verdict depends on the judge, and the systems that
// change places.
//
// A verdict is a yes if it passes or, without a pass mark, if its score is at least one
// half.
package sensitivity
