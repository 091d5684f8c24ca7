// Package metric compares a response with a reference and says how much of one is in
// the other, as published programs do.
//
// Each function ports one program, bug for bug, and is held to it by golden vectors:
// the numbers of LongBench, InfiniteBench and LoCoMo, of SQuAD, rouge_score, rouge and
// sacreBLEU. Where a program has several conventions, the function says which it follows.
// All take the response first and the reference second, whichever way round the original
// has them, and none keeps anything between calls that a score could hang on. All may be
// called by many goroutines at once.
//
// A score lies from 0 to 1, except those of [BLEU] and [ChrF], which sacreBLEU
// gives from 0 to 100.
package metric
