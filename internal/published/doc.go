// Package published reads files of results from other programs, with questions, responses
// and the verdicts of their own judges.
//
// [Open] recognises a file by its content, whatever its name: the files of LongMemEval,
// HaluMem and LoCoMo and of the systems that publish scores on them, logs of promptfoo,
// inspect and lm-eval, and rows of any other program if their columns are recognised. A
// file becomes a [Set]: items, and for each the recorded verdicts as records of a judge
// that is named after the file. If the file contains the judge's replies, they are the
// calls of the records.
//
// A value that is not a verdict, such as SKIP, ERROR, judge_failed or null, becomes a
// failure: unjudged is not wrong, however the program counted it.
//
// A file often states a summary of its rows. Such a number is a [Claim]. [Set.Check] counts
// the rows by the file's own rule and reports whether they give that number and, if not,
// which other way of counting does.
//
// A file is held in memory. The largest published files have some ten thousand rows.
package published
