//go:build race

package cli_test

// knownStep is how many sets further the next one to be read is. The race detector
// makes the database ten times slower, and the sets share all code that runs at once.
const knownStep = 6
