package dataset

import (
	"io"
	"strings"
	"testing"
)

// zeros reads like /dev/zero. It counts the bytes read.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	*z += zeros(len(p))
	return len(p), nil
}

// TestZeros checks that an endless input of zeros is rejected at its beginning.
func TestZeros(t *testing.T) {
	var z zeros
	_, err := spooled(t.Context(), "standard input", io.LimitReader(&z, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "all zeros") || z > 1<<10 {
		t.Errorf("after %d bytes: %v", z, err)
	}
}
