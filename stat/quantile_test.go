package stat_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

func TestQuantileDegenerate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		q      float64
		want   float64
	}{
		{"nothing", nil, 0.5, 0},
		{"one", []float64{3}, 0.5, 3},
		{"below", []float64{1, 2}, -5, 1},
		{"above", []float64{1, 2}, 5, 2},
		{"NaN", []float64{1, 2}, math.NaN(), 1},
		{"far apart", []float64{-math.MaxFloat64, math.MaxFloat64}, 0.5, 0},
	} {
		if got := stat.Quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestQuantilesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		slices.Sort(values)
		last := values[0]
		for i := range 101 {
			got := stat.Quantile(values, float64(i)/100)
			if got < last || got > values[len(values)-1] {
				t.Fatalf("the quantile at %d%% of %v is %v after %v", i, values, got, last)
			}
			last = got
		}
	})
}
