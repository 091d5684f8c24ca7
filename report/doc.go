// Package report turns the records of a run into a [Report], and a report into text, JSON
// or HTML.
//
// A [Builder] takes records one by one, in any order. It keeps sums, not records, so a
// report on a million records needs no more memory than one on a thousand. The same records
// give the same report, byte for byte, in any order.
//
// Unjudged is not wrong, so every score is reported three times: over the judged items,
// over all items with failures counted as wrong, and as the band between all failures wrong
// and all failures right. If too many items are unjudged, the first of the three says more
// about the failures than about the system, and it is withheld.
//
// Every score has a confidence interval. Intervals allow for clusters of items, are
// resampled on request ([Head.Bootstrap]), and are accompanied by the noise of the judge if
// items were judged several times. Each category is tested against the rest.
// docs/statistics.md describes how each number is computed and when it is valid.
package report
