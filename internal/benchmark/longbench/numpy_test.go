package longbench

import (
	"testing"

	"pgregory.net/rapid"
)

// TestNumpySum adds tenths. One by one, eight of them are 0.7999999999999999 and ten
// 0.9999999999999999; in eight sums combined in pairs they are exact.
func TestNumpySum(t *testing.T) {
	for n, want := range map[int]float64{0: 0, 8: 0.8, 10: 1, 16: 1.6} {
		list := make([]float64, n)
		for i := range list {
			list[i] = 0.1
		}
		if got := numpySum(list); got != want {
			t.Errorf("numpySum of %d tenths = %v, want %v", n, got, want)
		}
	}
}

// TestNumpySumOfWhole checks that sums of integers are exact in any order.
func TestNumpySumOfWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(-1000, 1000), 0, 700).Draw(t, "list")
		floats, want := make([]float64, len(list)), 0
		for i, n := range list {
			floats[i] = float64(n)
			want += n
		}
		if got := numpySum(floats); got != float64(want) {
			t.Fatalf("numpySum = %v, want %d", got, want)
		}
	})
}
