//go:build race

package agreement_test

// The race detector makes simulations ten times slower, so they are ten times shorter.
const slower = 10
