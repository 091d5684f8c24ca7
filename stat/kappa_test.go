package stat_test

import (
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

func TestKappaOfDegenerateTables(t *testing.T) {
	for _, c := range []struct {
		table [][]int
		warn  string
	}{
		{[][]int{{0, 0}, {0, 0}}, stat.WarnNoValues},
		{[][]int{{7, 0}, {0, 0}}, stat.WarnOneClass},
		{nil, stat.WarnNoValues},
	} {
		if est := stat.Kappa(c.table, 0.95); !est.Has(c.warn) || est.Lo != -1 || est.Hi != 1 {
			t.Errorf("Kappa(%v) = %+v, want the whole range and %q", c.table, est, c.warn)
		}
	}
}

func TestKappaStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 50)
		table := [][]int{{count.Draw(t, "a"), count.Draw(t, "b")}, {count.Draw(t, "c"), count.Draw(t, "d")}}
		est := stat.Kappa(table, 0.95)
		if !(est.Lo <= est.Value && est.Value <= est.Hi && est.Lo >= -1 && est.Hi <= 1) {
			t.Errorf("Kappa(%v) = %+v", table, est)
		}
		swapped := stat.Kappa([][]int{{table[0][0], table[1][0]}, {table[0][1], table[1][1]}}, 0.95)
		if !near(est.Value, swapped.Value, 1e-12) {
			t.Errorf("Kappa(%v) = %v, and %v with the judges swapped", table, est.Value, swapped.Value)
		}
	})
}
