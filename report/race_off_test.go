//go:build !race

package report_test

// raced says that the race detector is on.
const raced = false
