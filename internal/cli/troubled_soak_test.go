//go:build soak

package cli_test

// troubled is how many items go through trouble.
const troubled = 10_000
