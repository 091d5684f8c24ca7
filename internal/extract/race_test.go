//go:build race

package extract_test

// The race detector makes everything ten times slower, and time is not what it is
// run for.
func init() { slowdown = 16 }
