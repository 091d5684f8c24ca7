package agreement_test

import (
	"encoding/json"
	"math"
	"testing"

	"deem/internal/agreement"
	"deem/stat"
)

func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol }

// odd are the numbers that break formulas.
var odd = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), -1, 2, 1e308, -1e308, 5e-324, 1e100, -1e16, 1e-300, -0.5, 1 + 1e-16, 1 - 1e-16, 0.5,
}

// oddNumbers makes values of bytes: scores from 0 to 1, and the odd ones.
func oddNumbers(data []byte) []float64 {
	list := make([]float64, len(data))
	for i, b := range data {
		list[i] = float64(b) / 239
		if b >= 240 {
			list[i] = odd[b-240]
		}
	}
	return list
}

// known says what is wrong with an estimate, "" for nothing: it has a JSON, so that no part
// of it is NaN, and its interval holds its value.
func known(est stat.Estimate) string {
	if _, err := json.Marshal(est); err != nil {
		return err.Error()
	}
	if !(est.Lo <= est.Value && est.Value <= est.Hi) {
		return "its interval does not hold its value"
	}
	if est.N < 0 || est.Method == "" || !(est.Level > 0 && est.Level < 1) {
		return "it does not say what it is"
	}
	return ""
}

// FuzzCorrected holds the correction of a share by error rates, whatever the counts.
func FuzzCorrected(f *testing.F) {
	f.Add(3, 4)
	f.Add(0, 0)
	f.Add(-1, 5)
	f.Add(math.MaxInt, math.MaxInt)
	f.Add(7, 3)
	f.Add(1, 1<<40)
	f.Fuzz(func(t *testing.T, k, n int) {
		if k > 1<<40 || k < -1<<40 || n > 1<<40 || n < -1<<40 {
			return // Nobody has judged so many items.
		}
		labelled := agreement.Confusion{TP: k, FN: n, TN: 5, FP: 1}
		est := agreement.RoganGladenIn(agreement.Design{}, k, n, labelled, 0.95)
		if bad := known(est); bad != "" || est.Lo < -1 || est.Hi > 1 {
			t.Errorf("RoganGladenIn of %d and %d = %+v: %s", k, n, est, bad)
		}
	})
}

// FuzzPairs holds what is made of two lists: correlations, calibration, ranking, agreement.
func FuzzPairs(f *testing.F) {
	f.Add([]byte{0, 120, 239, 60}, []byte{0, 239, 100, 7}, byte(3))
	f.Add([]byte{240, 241, 242, 246}, []byte{240, 0, 246, 248}, byte(255))
	f.Add([]byte{1, 1, 1}, []byte{2, 2, 2}, byte(0))
	f.Fuzz(func(t *testing.T, xs, ys []byte, bits byte) {
		n := min(len(xs), len(ys), 60)
		x, y := oddNumbers(xs[:n]), oddNumbers(ys[:n])
		truth := make([]bool, n)
		for i := range truth {
			truth[i] = bits>>(i%8)&1 == 1
		}
		for name, of := range map[string]func(x, y []float64) (agreement.Correlation, error){"Pearson": agreement.Pearson, "Spearman": agreement.Spearman, "KendallTauB": agreement.KendallTauB} {
			if c, err := of(x, y); err == nil && (known(c.Estimate) != "" || c.Lo < -1 || c.Hi > 1 || !(c.P >= 0 && c.P <= 1)) {
				t.Errorf("%s(%v, %v) = %+v: %s", name, x, y, c, known(c.Estimate))
			}
		}
		if est, err := agreement.AUROC(x, truth, y); err == nil && (known(est) != "" || est.Lo < 0 || est.Hi > 1) {
			t.Errorf("AUROC(%v, %v, %v) = %+v: %s", x, truth, y, est, known(est))
		}
		if e, err := agreement.ECE(x, truth, nil, agreement.Binning{Count: int(bits)}); err == nil && !(e.Mean >= 0 && e.Mean <= e.Largest+1e-12 && e.Largest <= 1+1e-12 && e.RMS <= 1+1e-12) {
			t.Errorf("ECE(%v, %v) = %+v", x, truth, e)
		}
		if b, err := agreement.Brier(x, truth, nil); err == nil && !(b >= 0 && b <= 1) {
			t.Errorf("Brier(%v, %v) = %v", x, truth, b)
		}
		checkRatings(t, x, y)
	})
}

// checkRatings holds coefficients of agreement to be at most 1.
func checkRatings(t *testing.T, x, y []float64) {
	t.Helper()
	ratings := make([][]float64, len(x))
	for i := range x {
		ratings[i] = []float64{x[i], y[i]}
	}
	for _, s := range []agreement.Scale{agreement.ScaleNominal, agreement.ScaleOrdinal, agreement.ScaleInterval, agreement.ScaleRatio} {
		a := agreement.KrippendorffInterval(ratings, s, 0, 0, 0.95)
		if _, err := json.Marshal(a); err != nil || !(a.Value <= 1+1e-12) {
			t.Errorf("KrippendorffInterval(%v, %s) = %v, %v", ratings, s, a, err)
		}
	}
}

// FuzzTables holds kappa and its relatives, whatever the table.
func FuzzTables(f *testing.F) {
	f.Add([]byte{20, 5, 10, 15}, byte(2))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 9}, byte(3))
	f.Add([]byte{1, 2, 3}, byte(2))
	f.Add([]byte{255}, byte(1))
	f.Fuzz(func(t *testing.T, cells []byte, width byte) {
		wide := 1 + int(width%8)
		var table [][]int
		for i := 0; i < len(cells) && len(table) < 40; i += wide {
			var row []int
			for _, c := range cells[i:min(i+wide, len(cells))] {
				row = append(row, int(c)-8)
			}
			table = append(table, row)
		}
		for name, est := range map[string]stat.Estimate{
			"Kappa": agreement.Kappa(table, 0.95), "linear": agreement.WeightedKappa(table, agreement.Linear, 0.95), "quadratic": agreement.WeightedKappa(table, agreement.Quadratic, 0.95),
			"Fleiss": agreement.Fleiss(table, 0.95),
		} {
			if bad := known(est); bad != "" || est.Hi > 1+1e-12 {
				t.Errorf("%s of %v = %+v: %s", name, table, est, bad)
			}
		}
	})
}
