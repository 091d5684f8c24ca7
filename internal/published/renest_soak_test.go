//go:build soak

package published_test

import "testing"

// TestSoakConservation nests the rows of every file again 500 times.
func TestSoakConservation(t *testing.T) { conserve(t, 500) }
