//go:build !soak

package cli_test

// troubled is the number of items in TestRunThroughTrouble. The soak tests use ten
// thousand.
const troubled = 2000
