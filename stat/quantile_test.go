package stat_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

func TestPercentilesDegenerate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name      string
		values, q []float64
		want      []float64
	}{
		{"nothing", nil, []float64{0, 50}, []float64{0, 0}},
		{"no percentile", []float64{1}, nil, []float64{}},
		{"one", []float64{3}, []float64{0, 50, 100}, []float64{3, 3, 3}},
		{"beyond the ends", []float64{1, 2}, []float64{-5, 500, nan}, []float64{1, 2, 1}},
		{"no numbers", []float64{nan, 1, inf, 3, -inf}, []float64{50}, []float64{2}},
		{"far apart", []float64{-math.MaxFloat64, math.MaxFloat64}, []float64{0, 50, 100}, []float64{-math.MaxFloat64, 0, math.MaxFloat64}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, stat.Percentiles(tt.values, tt.q)); diff != "" {
				t.Errorf("Percentiles(%v, %v) (-want +got):\n%s", tt.values, tt.q, diff)
			}
		})
	}
}

func TestPercentilesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "values")
		before := slices.Clone(values)
		q := rapid.SliceOfN(rapid.Float64Range(0, 100), 1, 10).Draw(t, "q")
		slices.Sort(q)
		got := stat.Percentiles(values, q)
		if !slices.IsSorted(got) || got[0] < slices.Min(values) || got[len(got)-1] > slices.Max(values) {
			t.Fatalf("Percentiles(%v, %v) = %v, want them to rise within the values", values, q, got)
		}
		if !slices.Equal(values, before) {
			t.Fatal("the values given were sorted")
		}
	})
}
