// Package fuzz compares texts as three Python libraries do that share a family of
// names and not their numbers.
//
//   - [FuzzyWuzzy] is fuzzywuzzy 0.18, with difflib or with python-Levenshtein. Published
//     scores, as those of LongBench for code, were made by either.
//   - [RapidFuzz] is rapidfuzz 3.14, whose ratios are fractions of a hundred and which
//     takes texts as they are.
//   - [TheFuzz] is thefuzz 0.22, fuzzywuzzy's successor, which rounds what rapidfuzz says.
//
// A ratio is a similarity from 0 to 100. A partial ratio compares the shorter text with the
// part of the longer one that is most like it. Of the token ratios, one sorts the words of
// both texts first, and one sets apart the words that both have. The rest are mixtures. What
// an empty text is like differs from function to function, and is as upstream has it.
package fuzz
