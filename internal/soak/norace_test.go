//go:build !race

package soak_test

// raced says that the tests have the race detector, and so have the processes.
const raced = false
