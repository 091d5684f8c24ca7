package stat_test

import (
	"encoding/json"
	"math"
	"testing"

	"deem/stat"
)

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

// FuzzShares holds every interval of a proportion, whatever the counts and the level.
func FuzzShares(f *testing.F) {
	f.Add(3, 4, 0.95)
	f.Add(0, 0, 0.0)
	f.Add(-1, 5, math.NaN())
	f.Add(math.MaxInt, math.MaxInt, 1.0)
	f.Add(7, 3, 1-1e-16)
	f.Add(1, 1<<40, 1e-300)
	f.Fuzz(func(t *testing.T, k, n int, level float64) {
		if k > 1<<40 || k < -1<<40 || n > 1<<40 || n < -1<<40 {
			return // Nobody has judged so many items.
		}
		for name, interval := range map[string]func(k, n int, level float64) stat.Estimate{
			"Proportion": stat.Proportion, "ClopperPearson": stat.ClopperPearson,
		} {
			est := interval(k, n, level)
			if bad := known(est); bad != "" || est.Lo < 0 || est.Hi > 1 {
				t.Errorf("%s(%d, %d, %v) = %+v: %s", name, k, n, level, est, bad)
			}
		}
		for name, est := range map[string]stat.Estimate{
			"PairedProportions": stat.PairedProportions(k, n-k, n, level), "Difference": stat.Difference(stat.Proportion(k, n, level), stat.Proportion(n, k, level), level),
		} {
			if bad := known(est); bad != "" || est.Lo < -1 || est.Hi > 1 {
				t.Errorf("%s of %d and %d at %v = %+v: %s", name, k, n, level, est, bad)
			}
		}
		if n >= 0 && n < 1e6 {
			checkChance(t, "McNemar", stat.McNemar(k, n))
		}
	})
}

// checkChance holds that a test gives a chance.
func checkChance(t *testing.T, name string, test stat.Test) {
	t.Helper()
	if _, err := json.Marshal(test); err != nil || !(test.P >= 0 && test.P <= 1) || test.Method == "" {
		t.Errorf("%s = %+v, %v", name, test, err)
	}
}

// FuzzMeans holds estimates and tests of means, whatever the values and their weights.
func FuzzMeans(f *testing.F) {
	f.Add([]byte{0, 120, 239, 60}, []byte{239, 239, 239, 239}, 0.95)
	f.Add([]byte{240, 241, 242, 246, 247}, []byte{240, 0, 246, 248, 249}, math.NaN())
	f.Add([]byte{0, 239, 0, 239}, []byte{1, 0, 239, 120}, 1.0)
	f.Add([]byte{}, []byte{}, 0.0)
	f.Fuzz(func(t *testing.T, xs, ws []byte, level float64) {
		n := min(len(xs), len(ws), 60)
		x, w := oddNumbers(xs[:n]), oddNumbers(ws[:n])
		var m stat.Moments
		for i := range x {
			m.Add(x[i], w[i])
		}
		r := stat.Resampling{Draws: 50, Seed: 1, Level: level}
		ests := map[string]stat.Estimate{
			"Mean": stat.Mean(m, level, stat.Bounds{}), "MeanIn": stat.Mean(m, level, stat.Unit), "WeightedProportion": stat.WeightedProportion(m, level),
			"weighted bootstrap": stat.BootstrapMean(x, w, r), "bootstrap": stat.BootstrapMean(x, nil, r),
		}
		for name, est := range ests {
			if _, err := json.Marshal(est); err != nil || name != "MeanIn" && known(est) != "" && inUnit(x) {
				t.Errorf("%s of %v with weights %v at %v = %+v: %v %s", name, x, w, level, est, err, known(est))
			}
		}
		for name, adjust := range map[string]func([]float64) []float64{
			"Bonferroni": stat.Bonferroni, "Holm": stat.Holm,
		} {
			if !inUnit(x) {
				continue
			}
			for i, p := range adjust(x) {
				if !(p >= x[i]-1e-12 && p <= 1) {
					t.Errorf("%s(%v) makes %v of %v", name, x, p, x[i])
				}
			}
		}
		checkChance(t, "WelchTest", stat.WelchTest(x, w))
		checkChance(t, "PairedPermutation", stat.PairedPermutation(x, 50, 1))
	})
}

// inUnit reports whether all values are scores.
func inUnit(values []float64) bool {
	for _, x := range values {
		if !(x >= 0 && x <= 1) {
			return false
		}
	}
	return true
}

// FuzzNeeded holds plans: how many items, and what would be seen with them. They end, and
// are numbers, whatever is asked.
func FuzzNeeded(f *testing.F) {
	f.Add(100, 0.1, 0.3, 0.95, 0.8)
	f.Add(-1, math.NaN(), 0.0, 1.0, 1.0)
	f.Add(1, 0.0, 0.0, 0.0, 0.0)
	f.Add(1000, 1.0, 1.0, 1e-300, 1-1e-16)
	f.Add(50, math.Inf(1), -1.0, 0.5, 2.0)
	f.Fuzz(func(t *testing.T, n int, a, b, level, power float64) {
		for name, needed := range map[string]int{
			"NeededNPaired": stat.NeededNPaired(a, b, level, power), "NeededNTwo": stat.NeededNTwo(a, b, level, power),
		} {
			if needed < 1 {
				t.Errorf("%s(%v, %v, %v, %v) = %d", name, a, b, level, power, needed)
			}
		}
		for name, seen := range map[string]float64{
			"MinDetectable": stat.MinDetectable(n, a, b, level, power), "MinDetectablePaired": stat.MinDetectablePaired(n, a, level, power), "MinDetectableTwo": stat.MinDetectableTwo(n, a, level, power),
		} {
			if !(seen >= 0) || math.IsInf(seen, 0) {
				t.Errorf("%s(%d, %v, %v, %v) = %v", name, n, a, level, power, seen)
			}
		}
	})
}
