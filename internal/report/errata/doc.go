// Package errata says what known faults of an answer key do to a score.
//
// Answer keys have mistakes, and a system that answers rightly where the key is wrong is
// marked wrong. A list of such faults, which somebody else has found, tells three
// things about a run of any dataset:
//
//   - the ceiling: what a system that answers everything rightly would score. A score
//     above it is odd: wrong references were met, or the judge is generous;
//   - the score over the sound items, those whose reference is right;
//   - the score with the references corrected, where the judge can be asked again.
//
// [Read] reads a list. [Errata.Match] finds the items of a run that it is about. A
// [Builder] takes the records of the run and makes a [Report]. It asks no model:
// a caller that wants items judged again hands it a judge, which may be a rule, or one
// that knows replies from before.
package errata
