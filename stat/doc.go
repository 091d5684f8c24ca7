// Package stat turns numbers into estimates: a value, an interval around it, how
// many items it stands on, and what to beware of. Floats go in and estimates
// come out; the package knows no judge and no file.
//
// Counts of yes and no become a [Proportion]. Scores are gathered one by one in
// [Moments], which keep sums and not scores, and become a [Mean]. Durations are
// gathered in a [Histogram] and read as quantiles.
//
// Two promises hold throughout. Whatever goes in, no NaN, no infinity and no
// panic comes out: a number that cannot be trusted carries a warning beside it.
// And the order in which values are added changes no digit of an estimate, so
// that a stranger who reads the same records in another order prints the same
// report.
package stat
