package text_test

import (
	"math"
	"testing"

	"deem/internal/text"
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

func TestNumpyMean(t *testing.T) {
	tenths := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = .1
		}
		return list
	}
	// Added in order, ten tenths are slightly less than one.
	if got := text.NumpyMean(tenths(10)); got != .1 {
		t.Errorf("NumpyMean of ten tenths = %v, want 0.1", got)
	}
	if got, want := text.NumpyMean(tenths(6)), (.1+.1+.1+.1+.1+.1)/6; math.Abs(got-want) > 1e-16 {
		t.Errorf("NumpyMean of six tenths = %v, want %v", got, want)
	}
	for _, n := range []int{1, 7, 8, 9, 127, 128, 129, 1000, 4099} {
		if got := text.NumpyMean(tenths(n)); math.Abs(got-.1) > 1e-15 {
			t.Errorf("NumpyMean of %d tenths = %v, want 0.1", n, got)
		}
	}
	if got := text.NumpyMean(nil); !math.IsNaN(got) {
		t.Errorf("NumpyMean of nothing = %v, want NaN", got)
	}
}
