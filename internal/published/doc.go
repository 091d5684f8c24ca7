// Package published reads what other programs wrote about their own answers: files of
// results, with questions, responses and the verdicts that a judge of theirs gave.
//
// [Open] recognises a file by what is in it, whatever its name: the files of
// LongMemEval, HaluMem and LoCoMo and of the systems that publish scores on them, logs
// of promptfoo, inspect and lm-eval, and rows of any other program as far as their
// columns say what they hold. A file becomes a [Set]: items, and for each the recorded
// verdicts as records of a judge that is named after the file. Where the judge's own
// replies stand in the file, they are the calls of the records.
//
// What is not a verdict, as SKIP, ERROR, judge_failed or null, becomes a failure: unjudged
// is not wrong, whatever the program made of it.
//
// A file often says what its rows amount to. Such a number is a [Claim], and
// [Set.Check] counts the rows by the file's own rule and says whether they give that
// number and, if not, which other way of counting does.
//
// A file is held in memory. The largest that people publish have some ten thousand
// rows.
package published
