//go:build linux && soak && !race

package cli_test

import "testing"

// TestSoakMemoryOfLongReplies is TestMemoryOfLongReplies with replies of 60 MB.
func TestSoakMemoryOfLongReplies(t *testing.T) { memoryOfReplies(t, 60_000_000, 16, 1_500_000_000) }
