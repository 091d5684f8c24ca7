//go:build race

package cli_test

// knownStep and peopleStep are the steps through the sets, and through the systems that
// people judged. The race detector makes the database ten times slower, and all sets use
// the same concurrent code.
const knownStep, peopleStep = 6, 4
