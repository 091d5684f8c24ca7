package stat_test

import (
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// The values of statsmodels.stats.inter_rater.cohens_kappa.
func TestKappaEqualsStatsmodels(t *testing.T) {
	type line struct {
		Case  string `json:"case"`
		Input struct {
			Table [][]int `json:"table"`
		} `json:"input"`
		Expected struct {
			None struct {
				Kappa any `json:"kappa"`
				Low   any `json:"kappa_low"`
				High  any `json:"kappa_upp"`
			} `json:"none"`
		} `json:"expected"`
	}
	checked := 0
	for _, l := range readLines[line](t, "testdata/cohen_kappa_se.jsonl") {
		want, ok := l.Expected.None.Kappa.(float64)
		if !ok {
			continue // the reference gives no number, and we give a warning
		}
		est := stat.Kappa(l.Input.Table, 0.95)
		if !near(est.Value, want, 1e-12) {
			t.Errorf("%s: kappa %v, want %v", l.Case, est.Value, want)
		}
		if lo, ok := l.Expected.None.Low.(float64); ok && lo >= -1 && !near(est.Lo, lo, 1e-9) {
			t.Errorf("%s: lower end %v, want %v", l.Case, est.Lo, lo)
		}
		if hi, ok := l.Expected.None.High.(float64); ok && hi <= 1 && !near(est.Hi, hi, 1e-9) {
			t.Errorf("%s: upper end %v, want %v", l.Case, est.Hi, hi)
		}
		checked++
	}
	if checked < 60 {
		t.Errorf("%d tables checked, want 60", checked)
	}
}

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
