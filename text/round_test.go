package text_test

import (
	"math"
	"testing"

	"deem/text"
)

// The values are those of CPython 3.11 and numpy 1.24.
func TestRound(t *testing.T) {
	for _, tt := range []struct {
		f             float64
		digits        int
		python, numpy float64
	}{
		{2.675, 2, 2.67, 2.68},
		{0.125, 2, 0.12, 0.12},
		{0.375, 2, 0.38, 0.38},
		{1. / 160, 4, 0.0063, 0.0062},
		{-0.5, 0, math.Copysign(0, -1), math.Copysign(0, -1)},
		{1.5, 0, 2, 2},
		{2.5, 0, 2, 2},
		{2.5, -1, 2, 2},
		{1e308, 2, 1e308, math.Inf(1)},
		{5e-324, 3, 0, 0},
		{math.Inf(-1), 2, math.Inf(-1), math.Inf(-1)},
		{math.MaxFloat64, 0, math.MaxFloat64, math.MaxFloat64},
	} {
		if got := text.Round(tt.f, tt.digits); math.Float64bits(got) != math.Float64bits(tt.python) {
			t.Errorf("Round(%v, %d) = %v, want %v", tt.f, tt.digits, got, tt.python)
		}
		if got := text.NumpyRound(tt.f, tt.digits); math.Float64bits(got) != math.Float64bits(tt.numpy) {
			t.Errorf("NumpyRound(%v, %d) = %v, want %v", tt.f, tt.digits, got, tt.numpy)
		}
	}
	if got := text.Round(math.NaN(), 2); !math.IsNaN(got) {
		t.Errorf("Round(NaN) = %v", got)
	}
	if got := text.NumpyRound(math.NaN(), 2); !math.IsNaN(got) {
		t.Errorf("NumpyRound(NaN) = %v", got)
	}
}
