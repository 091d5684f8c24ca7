// Package text handles strings like Python.
//
// The benchmarks that deem reproduces were scored by Python programs, and their numbers
// depend on details in which Go's standard library differs: what counts as white space, how
// a character changes case, where a word ends, how a number or a list is written. The
// functions here follow CPython to the byte. If there is no Python number to reproduce,
// package strings is the better choice.
//
// CPython 3.11 uses Unicode 14 and Go a later version, so characters that were assigned in
// between may be treated differently.
//
// A Python string cannot contain invalid UTF-8. Bytes that are not UTF-8 are kept
// unchanged, and [Repr] writes them as Python writes undecodable bytes.
package text
