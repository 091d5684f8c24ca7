package doc_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/doc"
)

var quantiles = []float64{0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1}

func TestHistogramQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.OneOf(
			rapid.Float64Range(1e-9, 1e18),
			rapid.Float64Range(1e6, 5e9), // latencies in nanoseconds
			rapid.Just(0.0),
		)
		values := rapid.SliceOfN(one, 1, 200).Draw(t, "values")
		var h doc.Histogram
		for _, x := range values {
			h.Add(x)
		}
		slices.Sort(values)
		for _, q := range quantiles {
			rank := max(int(math.Ceil(q*float64(len(values)))), 1)
			want, got := values[rank-1], h.Quantile(q)
			if math.Abs(got-want) > 0.0100001*want {
				t.Fatalf("Quantile(%v) = %v, want within 1%% of %v", q, got, want)
			}
		}
	})
}

func TestHistogramDegenerate(t *testing.T) {
	var h doc.Histogram
	if got := h.Quantile(0.5); got != 0 || h.N() != 0 {
		t.Errorf("empty: Quantile = %v, N = %d, want 0, 0", got, h.N())
	}
	for _, x := range []float64{math.NaN(), -5, math.Inf(-1)} {
		h.Add(x)
	}
	if got := h.Quantile(0.5); got != 0 || h.N() != 2 {
		t.Errorf("below 0: Quantile = %v, N = %d, want 0, 2", got, h.N())
	}
	h.Add(math.Inf(1))
	if got := h.Quantile(1); got != math.MaxFloat64 {
		t.Errorf("infinite: Quantile(1) = %v, want the largest number", got)
	}
	if got := h.Quantile(math.NaN()); got != 0 {
		t.Errorf("Quantile(NaN) = %v, want the smallest number, 0", got)
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h doc.Histogram
	for i := 0; b.Loop(); i++ {
		h.Add(float64(i))
	}
}
