//go:build !race

package cli_test

// knownStep is how many sets further the next one to be read is.
const knownStep = 1
