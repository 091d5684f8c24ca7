//go:build !race

package cli_test

// knownStep is how many sets further the next one to be read is, and peopleStep how many
// systems that people judged.
const knownStep, peopleStep = 1, 1
