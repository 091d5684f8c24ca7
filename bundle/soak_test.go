//go:build soak

package bundle_test

import "testing"

// A thousand changes of single bytes in a file of ten thousand records.
func TestSoakAnyByteChanged(t *testing.T) {
	changeBytes(t, 10_000, 1000)
}
