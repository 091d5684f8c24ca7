// Package text handles strings as Python does.
//
// The benchmarks that deem reproduces were scored by Python programs, and their
// numbers hang on details in which Go's standard library differs: what counts as
// white space, how a character changes case, where a word ends, how a number or a
// list is written. The functions here follow CPython to the byte; where a caller
// has no Python number to reproduce, package strings is the better choice.
//
// CPython 3.11 knows Unicode 14 and Go a later version, so characters that were
// assigned in between may be treated differently.
//
// A Python string cannot hold invalid UTF-8. Bytes that are not UTF-8 pass through
// unchanged, and [Repr] writes them as Python writes a byte it could not decode.
package text
