// Package stat computes estimates: a value, its confidence interval, the number of items it
// is based on, and warnings. Its input is numbers; it knows nothing about judges or files.
//
// Counts of yes and no become a [Proportion]. Scores are added one by one to [Moments],
// which keep sums rather than scores, and become a [Mean].
//
// Items of one conversation are not independent; [Clustered] collects them by cluster and
// gives wider intervals. [PairedProportions] compares two systems on the same items, and
// [Difference] on different ones. [McNemar], [PairedPermutation] and other functions that
// return a [Test] test whether they differ at all; [Holm] adjusts for multiple tests.
// [MinDetectablePaired] returns the smallest difference that a number of items can show.
//
// Two guarantees hold throughout. No input causes a NaN, an infinity or a panic: an
// unreliable number has a warning. And the order in which values are added changes no digit
// of an estimate, so the same records give the same report in any order.
package stat
