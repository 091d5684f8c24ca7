//go:build !race

package report_test

// raced reports whether the race detector is on.
const raced = false
