//go:build !race

package main_test

// raced reports whether the tests, and so the processes, have the race detector.
const raced = false
