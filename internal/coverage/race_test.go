//go:build race

package coverage

// The race detector makes simulations ten times slower, so they are ten times shorter.
const slower = 10
