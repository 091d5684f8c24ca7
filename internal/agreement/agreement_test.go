package agreement_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
	"deem/stat"
)

// sane fails unless an estimate of agreement is a number within its interval.
func sane(t *rapid.T, name string, est stat.Estimate) {
	t.Helper()
	if !(est.Lo <= est.Value && est.Value <= est.Hi && est.Hi <= 1) || math.IsInf(est.Lo, 0) {
		t.Errorf("%s = %+v", name, est)
	}
}

// counts draws a table, which may be ragged or hold nonsense.
func counts(t *rapid.T) [][]int {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(-1, 30), 0, 4), 0, 4).Draw(t, "table")
}

// ratings draws ratings of units by judges, with some missing.
func ratings(t *rapid.T) [][]float64 {
	one := rapid.OneOf(rapid.SampledFrom([]float64{1, 2, 3, math.NaN()}), rapid.Float64())
	return rapid.SliceOfN(rapid.SliceOfN(one, 0, 4), 0, 12).Draw(t, "ratings")
}

// Whatever goes in, a number with an interval comes out.
func TestAgreementIsSane(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table, units := counts(t), ratings(t)
		level := rapid.SampledFrom([]float64{0.9, 0.5, 0.95}).Draw(t, "level")
		for _, w := range []agreement.Weighting{agreement.Unweighted, agreement.Linear, agreement.Quadratic, "other"} {
			sane(t, "WeightedKappa", agreement.WeightedKappa(table, w, level))
		}
		sane(t, "Fleiss", agreement.Fleiss(table, level))
		for _, s := range []agreement.Scale{agreement.ScaleNominal, agreement.ScaleOrdinal, agreement.ScaleInterval, agreement.ScaleRatio, "other"} {
			sane(t, "KrippendorffInterval", agreement.KrippendorffInterval(units, s, 20, 1, level))
		}
	})
}

// Two judges who differ about one item, next to an item that only one of them rated, agree
// less than the formula's -1.
func TestFleissLeast(t *testing.T) {
	if est := agreement.Fleiss([][]int{{1, 1}, {1, 0}}, 0.95); est.Value != -1 || est.Lo != -1 || est.Hi < -1 {
		t.Errorf("Fleiss = %+v, want the least value, -1, within its interval", est)
	}
}

// The order of units changes no digit.
func TestAgreementIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]float64{1, 2, 3, math.NaN()}), 3, 3), 2, 20).Draw(t, "units")
		shuffled := rapid.Permutation(units).Draw(t, "shuffled")
		a, b := agreement.Fleiss(labelCounts(units), 0.95), agreement.Fleiss(labelCounts(shuffled), 0.95)
		if a.Value != b.Value || a.Lo != b.Lo {
			t.Errorf("Fleiss(%v) = %+v, and %+v in another order", units, a, b)
		}
		x := agreement.KrippendorffInterval(transposed(units), agreement.ScaleOrdinal, 0, 0, 0.95)
		y := agreement.KrippendorffInterval(transposed(shuffled), agreement.ScaleOrdinal, 0, 0, 0.95)
		if x.Value != y.Value || slices.Contains(x.Warnings, agreement.WarnOneRated) != slices.Contains(y.Warnings, agreement.WarnOneRated) {
			t.Errorf("Krippendorff(%v) = %v, and %v in another order", units, x, y)
		}
	})
}

// labelCounts counts how often each of the labels 1 to 3 was given to each unit.
func labelCounts(units [][]float64) [][]int {
	table := make([][]int, len(units))
	for i, unit := range units {
		table[i] = make([]int, 3)
		for _, r := range unit {
			if !math.IsNaN(r) {
				table[i][int(r)-1]++
			}
		}
	}
	return table
}

func transposed(units [][]float64) [][]float64 {
	judges := make([][]float64, len(units[0]))
	for _, unit := range units {
		for j, r := range unit {
			judges[j] = append(judges[j], r)
		}
	}
	return judges
}

// Cohen's kappa collapses where one label is frequent (Feinstein and Cicchetti 1990),
// and AC1 does not.
func TestKappaParadox(t *testing.T) {
	both := agreement.YesNo{TP: 118, FN: 5, FP: 2}
	kappa, ac1 := both.Beyond(agreement.CohenKappa, 125, agreement.Design{}, 0.95), both.Beyond(agreement.GwetAC, 125, agreement.Design{}, 0.95)
	if kappa.Value > 0 || ac1.Value < 0.9 {
		t.Errorf("kappa %v and AC1 %v of %v, want below 0 and above 0.9", kappa.Value, ac1.Value, both)
	}
}

// A worked example with ten items, fourteen judges and five labels.
func TestFleissExample(t *testing.T) {
	table := [][]int{
		{0, 0, 0, 0, 14},
		{0, 2, 6, 4, 2},
		{0, 0, 3, 5, 6},
		{0, 3, 9, 2, 0},
		{2, 2, 8, 1, 1},
		{7, 7, 0, 0, 0},
		{3, 2, 6, 3, 0},
		{2, 5, 3, 2, 2},
		{6, 5, 2, 1, 0},
		{0, 2, 2, 3, 7},
	}
	if est := agreement.Fleiss(table, 0.95); !near(est.Value, 0.20993, 1e-5) {
		t.Errorf("Fleiss = %v, want 0.210", est.Value)
	}
}

func TestKrippendorffErrors(t *testing.T) {
	nan := math.NaN()
	for name, ratings := range map[string][][]float64{
		"nothing": nil, "no pairs": {{1, nan}, {nan, 2}}, "one value": {{2, 2}, {2, 2}},
	} {
		est := agreement.KrippendorffInterval(ratings, agreement.ScaleNominal, 100, 1, 0.95)
		if est.Lo != -1 || est.Hi != 1 || len(est.Warnings) == 0 {
			t.Errorf("%s: %+v, want the whole range and a warning", name, est)
		}
	}
	if est := agreement.KrippendorffInterval([][]float64{{1, 2}, {1, 3}}, "cardinal", 100, 1, 0.95); est.Lo != -1 || len(est.Warnings) == 0 {
		t.Errorf("an unknown scale gives %+v, want a warning", est)
	}
}

// The bootstrap of alpha is the same for the same seed, and holds its level roughly.
func TestKrippendorffInterval(t *testing.T) {
	t.Parallel()
	const units, replications = 150, 300
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) [][]float64 {
		judges := [][]float64{make([]float64, n), make([]float64, n)}
		for i := range n {
			v := float64(rng.IntN(2))
			for j := range judges {
				judges[j][i] = v
				if rng.Float64() < 0.15 {
					judges[j][i] = 1 - v
				}
			}
		}
		return judges
	}
	truth := agreement.KrippendorffInterval(draw(200000), agreement.ScaleNominal, 0, 0, 0.95).Value
	hits := 0
	for i := range replications {
		ratings := draw(units)
		est := agreement.KrippendorffInterval(ratings, agreement.ScaleNominal, 200, uint64(i), 0.95)
		if i == 0 {
			if again := agreement.KrippendorffInterval(ratings, agreement.ScaleNominal, 200, 0, 0.95); again.Lo != est.Lo {
				t.Fatalf("the same seed gives %v and %v", est.Lo, again.Lo)
			}
		}
		if covers(est, truth) {
			hits++
		}
	}
	t.Logf("alpha %.3f is covered %d times of %d", truth, hits, replications)
	if hits < replications*90/100 {
		t.Errorf("alpha is covered %d times of %d, want 90%% at least", hits, replications)
	}
}

// The intervals of kappa and of AC1 hold their level.
func TestAgreementCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	t.Parallel()
	const items, replications = 200, 4000
	j, prevalence := simulatedJudge{.9, .85}, 0.6
	rng := rand.New(rand.NewPCG(3, 4))
	large := agreement.Confusion{TP: 540_000, FN: 60_000, TN: 340_000, FP: 60_000}
	kappa, ac1 := large.Kappa(0.95).Value, gwetAC1(large).Value
	var ofKappa, ofAC1 int
	for range replications {
		c := j.labels(rng, prevalence, items)
		if covers(c.Kappa(0.95), kappa) {
			ofKappa++
		}
		if covers(gwetAC1(c), ac1) {
			ofAC1++
		}
	}
	k, a := 100*float64(ofKappa)/replications, 100*float64(ofAC1)/replications
	t.Logf("kappa %.1f%%, AC1 %.1f%%", k, a)
	if k < 93.5 || k > 96.5 || a < 93.5 || a > 96.5 {
		t.Errorf("kappa covers %.1f%% and AC1 %.1f%%, want 93.5%% to 96.5%%", k, a)
	}
}

// gwetAC1 returns AC1 of a judge and people.
func gwetAC1(c agreement.Confusion) stat.Estimate {
	y := agreement.YesNo{TP: float64(c.TP), FP: float64(c.FP), FN: float64(c.FN), TN: float64(c.TN)}
	return y.Beyond(agreement.GwetAC, c.N(), agreement.Design{}, 0.95)
}
