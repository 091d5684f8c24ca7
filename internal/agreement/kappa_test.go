package agreement_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
	"deem/stat"
)

func TestKappaOfDegenerateTables(t *testing.T) {
	for _, c := range []struct {
		table [][]int
		warn  string
	}{
		{[][]int{{0, 0}, {0, 0}}, stat.WarnNoValues},
		{[][]int{{7, 0}, {0, 0}}, agreement.WarnOneClass},
		{nil, stat.WarnNoValues},
	} {
		if est := agreement.Kappa(c.table, 0.95); !slices.Contains(est.Warnings, c.warn) || est.Lo != -1 || est.Hi != 1 {
			t.Errorf("Kappa(%v) = %+v, want the whole range and %q", c.table, est, c.warn)
		}
	}
}

func TestKappaStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 50)
		table := [][]int{{count.Draw(t, "a"), count.Draw(t, "b")}, {count.Draw(t, "c"), count.Draw(t, "d")}}
		est := agreement.Kappa(table, 0.95)
		if !(est.Lo <= est.Value && est.Value <= est.Hi && est.Lo >= -1 && est.Hi <= 1) {
			t.Errorf("Kappa(%v) = %+v", table, est)
		}
		swapped := agreement.Kappa([][]int{{table[0][0], table[1][0]}, {table[0][1], table[1][1]}}, 0.95)
		if !near(est.Value, swapped.Value, 1e-12) {
			t.Errorf("Kappa(%v) = %v, and %v with the judges swapped", table, est.Value, swapped.Value)
		}
	})
}

// Judges who always agree, who never do, or of whom one says the same of everything
// leave no spread to measure: an interval without width must say so.
func TestAgreementWithoutWidth(t *testing.T) {
	for _, tt := range []struct {
		table [][]int
		sure  bool
	}{
		{[][]int{{3, 0}, {0, 3}}, true},
		{[][]int{{20, 0}, {0, 7}}, true},
		{[][]int{{0, 3}, {3, 0}}, true},
		{[][]int{{30, 0}, {10, 0}}, true},
		{[][]int{{20, 1}, {0, 7}}, false},
	} {
		kappa := agreement.Kappa(tt.table, 0.95)
		if slices.Contains(kappa.Warnings, agreement.WarnNoWidth) != tt.sure || tt.sure != (kappa.Hi-kappa.Lo < 1e-9) {
			t.Errorf("kappa of %v is %v in [%v, %v] with warnings %q", tt.table, kappa.Value, kappa.Lo, kappa.Hi, kappa.Warnings)
		}
	}
	ratings := [][]float64{make([]float64, 60), make([]float64, 60)}
	for i := range 30 {
		ratings[0][i], ratings[1][i] = 1, 1
	}
	if alpha := agreement.KrippendorffInterval(ratings, agreement.ScaleNominal, 200, 1, 0.95); alpha.Lo != 1 || !slices.Contains(alpha.Warnings, agreement.WarnCertain) {
		t.Errorf("alpha of judges who always agree is %+v, want a warning that its interval has no width", alpha)
	}
}
