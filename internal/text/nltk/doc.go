// Package nltk does what some programs leave to NLTK 3.8, the Natural Language
// Toolkit for Python, and gives the same to the last bit.
//
// [Words] is its word_tokenize: Punkt cuts a text into sentences ([Sentences]), and
// each of these is cut into words ([LineWords]). [BLEU] and [METEOR] compare lists of
// words, which need not come from there. METEOR can look synonyms up in [WordNet],
// which is not part of this program: it reads the database files of WordNet 3.0
// from a folder.
//
// The trained parameters of Punkt are unpacked when the first sentence is cut. All
// functions may be called by many goroutines at once.
package nltk
