// Package stat turns numbers into estimates: a value, an interval around it, how
// many items it stands on, and what to beware of. Floats go in and estimates
// come out; the package knows no judge and no file.
//
// Counts of yes and no become a [Proportion]. Scores are gathered one by one in
// [Moments], which keep sums and not scores, and become a [Mean]. Durations are
// gathered in a [Histogram] and read as quantiles.
//
// Items of one conversation are not independent; [Clustered] gathers them by
// cluster, and its error bars are wider for it. [PairedProportions] compares two
// systems on the same items. Whether they differ at all is for [McNemar],
// [PairedPermutation] and the other functions that return a [Test]; [Holm] adjusts
// when there are many of them. [BestSplit] spends a budget on items and trials, and
// [NeededNPaired] says how many items a difference takes.
// A [Sequence] has an interval that holds at every look, for those who stop when they
// know enough.
//
// Two promises hold throughout. Whatever goes in, no NaN, no infinity and no
// panic comes out: a number that cannot be trusted carries a warning beside it.
// And the order in which values are added changes no digit of an estimate, except in
// a [Sequence], so
// that a stranger who reads the same records in another order prints the same
// report.
package stat
