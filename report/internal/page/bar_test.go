package page

import (
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

func TestBar(t *testing.T) {
	a := Axis{Lo: 0.2, Hi: 0.8, Width: 12}
	tests := []struct {
		lo, value, hi float64
		want          string
	}{
		{0.2, 0.5, 0.7999, "├─────●────┤"},
		{0.3, 0.4, 0.5, "  ├─●─┤"},
		{0.5, 0.5, 0.5, "      ●"},
		{0, 0.1, 0.25, "●┤"},
		{0.75, 0.9, 1, "           ●"},
		{0.5, 0.5, 0.6, "      ●─┤"},
	}
	for _, tt := range tests {
		if got := a.Bar(stat.Estimate{Value: tt.value, Lo: tt.lo, Hi: tt.hi}); got != tt.want {
			t.Errorf("Bar(%v in [%v, %v]) = %q, want %q", tt.value, tt.lo, tt.hi, got, tt.want)
		}
	}
}

func TestAxisRound(t *testing.T) {
	tests := []struct{ lo, hi, wantLo, wantHi float64 }{
		{0.34, 0.71, 0.3, 0.8},
		{0.3, 0.7, 0.3, 0.7},
		{1, 1, 0.9, 1},
		{0, 0, 0, 0.1},
		{0, 1, 0, 1},
	}
	for _, tt := range tests {
		got := Axis{Lo: tt.lo, Hi: tt.hi}.Round()
		if diff := (got.Lo-tt.wantLo)*(got.Lo-tt.wantLo) + (got.Hi-tt.wantHi)*(got.Hi-tt.wantHi); diff > 1e-18 {
			t.Errorf("Round of [%v, %v] = [%v, %v], want [%v, %v]", tt.lo, tt.hi, got.Lo, got.Hi, tt.wantLo, tt.wantHi)
		}
	}
	if got := (Axis{Lo: 0.3, Hi: 0.8, Width: 12}).Head(); got != "30%      80%" {
		t.Errorf("Head() = %q", got)
	}
}

// A bar never leaves its columns, and a value is always to be seen.
func TestBarFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(0, 1).Draw(t, "a")
		b := rapid.Float64Range(0, 1).Draw(t, "b")
		v := rapid.Float64Range(min(a, b), max(a, b)).Draw(t, "v")
		axis := Axis{Lo: min(a, b), Hi: max(a, b), Width: rapid.IntRange(10, 20).Draw(t, "width")}.Round()
		bar := axis.Bar(stat.Estimate{Value: v, Lo: min(a, b), Hi: max(a, b)})
		if w := screen.StringWidth(bar); w > axis.Width {
			t.Fatalf("the bar %q is %d columns wide, want at most %d", bar, w, axis.Width)
		}
		if n := countRune(bar, '●'); n != 1 {
			t.Fatalf("the bar %q marks %d values, want 1", bar, n)
		}
	})
}

func countRune(s string, r rune) int {
	n := 0
	for _, c := range s {
		if c == r {
			n++
		}
	}
	return n
}
