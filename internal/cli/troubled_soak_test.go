//go:build soak

package cli_test

// troubled is the number of items in TestRunThroughTrouble.
const troubled = 10_000
