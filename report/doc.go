// Package report turns the records of a run into a [Report], and a report into
// text, JSON or a page of HTML.
//
// A [Builder] takes records one by one, in any order, and keeps sums, not
// records, so a report of a million records needs no more memory than one of a
// thousand. The same records give the same report to the last byte, whatever
// their order.
//
// Unjudged is not wrong, so every number is three numbers: over the judged items,
// over all items with failures counted as wrong, and the band between all
// failures wrong and all failures right. When too many items are unjudged, the
// first of the three says more about the failures than about the system, and it
// is withheld.
//
// Chance is shown too. Intervals allow for items that come in clusters, are resampled
// on request ([Head.Bootstrap]), and stand beside the noise of the judge itself where
// items were judged several times. Each category is tested against the rest.
// docs/statistics.md says how each number is made and when to believe it.
package report
