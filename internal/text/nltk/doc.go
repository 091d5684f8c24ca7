// Package nltk ports the parts of NLTK 3.8, the Natural Language Toolkit for Python, that
// some benchmarks use, with identical results to the last bit.
//
// [Words] is its word_tokenize: Punkt splits a text into sentences ([Sentences]), and each
// sentence is split into words ([LineWords]). [BLEU] and [METEOR] compare lists of words,
// which may come from anywhere. METEOR can look up synonyms in [WordNet], which is not part
// of this program: it reads the database files of WordNet 3.0 from a folder.
//
// The trained parameters of Punkt are unpacked when the first text is split into sentences.
// All functions are safe for concurrent use.
package nltk
