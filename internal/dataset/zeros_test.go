package dataset

import (
	"io"
	"strings"
	"testing"

	"deem"
)

// zeros is what /dev/zero holds. It counts what was read of it.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	*z += zeros(len(p))
	return len(p), nil
}

// TestZeros holds that input of zeros that never ends is refused at its beginning.
func TestZeros(t *testing.T) {
	var z zeros
	_, err := spooled(t.Context(), "standard input", io.LimitReader(&z, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "zeros and not rows") || deem.HintOf(err) == "" || z > 1<<10 {
		t.Errorf("after %d bytes: %v", z, err)
	}
}
