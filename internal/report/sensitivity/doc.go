// Package sensitivity shows how a published score stands: what is claimed, what the
// rows behind it give, what other judges make of the same responses, and whether the
// order of several systems survives a change of judge.
//
// [New] returns a [Builder] for a list of judges, the first of which is the one that
// the others are compared with: as a rule the judge of the publication. Each system
// gets a part of its own from [Builder.System], which is given every item with the
// verdicts of all judges, and the score that a report gives each judge. [Builder.Report]
// then says how far the scores of a system are apart, how far judges agree, which items
// change with the judge, and which systems change places.
//
// A verdict says yes when it passes or, where there is no pass mark, when its score is
// at least one half.
package sensitivity
