//go:build !soak

package cli_test

// troubled is how many items go through trouble. The long tests take ten thousand.
const troubled = 2000
