//go:build !race

package coverage

const slower = 1
