// Package errata computes the effect of known errors in an answer key on a score.
//
// Answer keys have errors, and a system that answers correctly where the key is wrong is
// marked wrong. A published list of such errors gives three results for a run of any
// dataset:
//
//   - the ceiling: the score of a system that answers everything right. A score above it
//     is suspicious: wrong references were matched, or the judge is lenient;
//   - the score over the sound items, those with a right reference;
//   - the score with corrected references, if items can be judged again.
//
// [Read] reads a list. [Errata.Match] finds the items of a run that it applies to. A
// [Builder] takes the records of the run and makes a [Report]. It calls no model: a caller
// that wants items judged again passes a judge, which may be a rule or a judge that replays
// earlier replies.
package errata
