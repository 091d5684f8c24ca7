// Package metric computes the similarity of a response and a reference like published
// programs.
//
// Each function ports one program, including its bugs, and is checked against it with
// golden vectors: LongBench, InfiniteBench, LoCoMo, SQuAD, rouge_score, rouge and
// sacreBLEU. If a program has several conventions, the function documents which one it
// follows. All functions take the response first and the reference second, whatever the
// order in the original. They keep no state that affects scores, and are safe for
// concurrent use.
//
// [NLTKWords], [NLTKSentences] and [NLTKLineWords] port the tokenizer of NLTK 3.8, the Natural
// Language Toolkit for Python, with identical results. [JiebaCut] splits Chinese text into
// words.
//
// Scores are from 0 to 1, except that of [BLEU], which is from 0 to 100 as in sacreBLEU.
package metric
