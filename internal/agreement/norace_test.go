//go:build !race

package agreement_test

const slower = 1
