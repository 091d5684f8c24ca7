package cli

import (
	"math"
	"testing"
)

// The best split is that of the textbook where items can be had, and uses up the items
// where they cannot.
func TestBestSplit(t *testing.T) {
	for _, tt := range []struct {
		name           string
		items, trials  float64
		calls          int
		cost           float64
		most           int
		wantN, wantTry int
	}{
		{"items cost nothing but their calls", 0.2, 0.05, 1000, 0, 0, 1000, 1},
		{"items at hand are used up", 0.2, 0.05, 1000, 0, 250, 250, 4},
		{"an item costs as much as 36 calls", 0.2, 0.05, 3900, 36, 0, 100, 3}, // the root of 36·0.05/0.2 is 3
		{"a judge that never wavers", 0.2, 0, 1000, 9, 0, 100, 1},
		{"too few calls for one item", 0.2, 0.05, 5, 9, 0, 0, 0},
	} {
		got := bestSplit(tt.items, tt.trials, tt.calls, tt.cost, tt.most)
		if got.Items != tt.wantN || got.Trials != tt.wantTry {
			t.Errorf("%s: %+v, want %d items and %d trials", tt.name, got, tt.wantN, tt.wantTry)
		}
		if want := math.Sqrt((tt.items + tt.trials/float64(got.Trials)) / float64(got.Items)); got.Items > 0 && math.Abs(got.SE-want) > 1e-12 {
			t.Errorf("%s: standard error %v, want %v", tt.name, got.SE, want)
		}
	}
}
