//go:build race

package cli_test

// knownStep is how many sets further the next one to be read is, and peopleStep how many
// systems that people judged. The race detector makes the database ten times slower, and
// they share all code that runs at once.
const knownStep, peopleStep = 6, 4
