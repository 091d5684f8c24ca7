//go:build race

package report_test

// raced reports whether the race detector is on, which makes everything ten times slower.
const raced = true
