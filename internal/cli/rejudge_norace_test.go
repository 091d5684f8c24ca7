//go:build !race

package cli_test

// knownStep and peopleStep are the steps through the sets, and through the systems that
// people judged.
const knownStep, peopleStep = 1, 1
