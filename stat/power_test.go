package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

// The difference that is said to be detectable is found as often as was planned.
func TestMinDetectableFinds(t *testing.T) {
	t.Parallel()
	const n = 88
	difference := stat.MinDetectable(n, 1/math.Sqrt(n), math.Inf(1), 0.95, 0.8)
	if !near(difference, 0.29865, 1e-5) { // (1.95996 + 0.84162) / √88
		t.Errorf("the smallest detectable difference of 88 is %v, want 0.29865", difference)
	}
	rng := rand.New(rand.NewPCG(1988, 2))
	const rounds = 2000
	found := 0
	for range rounds {
		values := make([]float64, n)
		for i := range values {
			values[i] = difference + rng.NormFloat64()
		}
		if stat.Mean(stat.MomentsOf(values), 0.95, stat.Bounds{}).LeavesOut(0) {
			found++
		}
	}
	if got := float64(found) / rounds; !near(got, 0.8, 0.03) {
		t.Errorf("found in %.3f of rounds, want 0.8", got)
	}
}

// The power of McNemar's test at the planned number, by adding up the chances of all
// tables.
func TestNeededNPairedFinds(t *testing.T) {
	for _, tt := range []struct{ difference, discordance, power float64 }{
		{0.05, 0.2, 0.8}, {0.1, 0.3, 0.9}, {0.1, 0.15, 0.8},
	} {
		n := stat.NeededNPaired(tt.difference, tt.discordance, 0.95, tt.power)
		up, down := (tt.discordance+tt.difference)/2, (tt.discordance-tt.difference)/2
		found, surely := 0.0, 0.0
		for differ := range n + 1 {
			chance := stat.BinomialMass(differ, n, tt.discordance)
			if chance < 1e-9 {
				continue
			}
			for b := range differ + 1 {
				mass := chance * stat.BinomialMass(b, differ, up/(up+down))
				if chi2P(b, differ-b) < 0.05 {
					found += mass
				}
				if stat.McNemar(b, differ-b).P < 0.05 {
					surely += mass
				}
			}
		}
		t.Logf("difference %v, discordance %v: %d items find it with %.3f, and with %.3f by the exact test", tt.difference, tt.discordance, n, found, surely)
		// With few items that differ the test moves in steps.
		if found < tt.power-0.01 || found > tt.power+0.045 {
			t.Errorf("difference %v, discordance %v: %d items find it with %.3f, want about %v", tt.difference, tt.discordance, n, found, tt.power)
		}
		if surely > found || surely < tt.power-0.06 {
			t.Errorf("difference %v, discordance %v: the exact test finds it with %.3f, want a little less than %.3f", tt.difference, tt.discordance, surely, found)
		}
	}
}

func TestNeededNTwo(t *testing.T) {
	// Fleiss's formula by hand: p = 0.6, q = 0.7 needs 356 items on each side.
	if got := stat.NeededNTwo(0.6, 0.7, 0.95, 0.8); got != 356 {
		t.Errorf("NeededNTwo(0.6, 0.7) = %d, want 356", got)
	}
	if got := stat.NeededNTwo(0.7, 0.6, 0.95, 0.8); got != 356 {
		t.Errorf("NeededNTwo(0.7, 0.6) = %d, want 356", got)
	}
}

// What is needed and what is detectable are the same curve.
func TestPowerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(20, 100_000).Draw(t, "n")
		level := rapid.Float64Range(0.8, 0.999).Draw(t, "level")
		power := rapid.Float64Range(0.5, 0.99).Draw(t, "power")
		share := rapid.Float64Range(0.05, 0.95).Draw(t, "share")
		if d := stat.MinDetectablePaired(n, share, level, power); d < 1 {
			if got := stat.NeededNPaired(d*(1+1e-9), share, level, power); got > n {
				t.Fatalf("MinDetectablePaired(%d, %v) = %v, which needs %d", n, share, d, got)
			}
			if got := stat.NeededNPaired(d*0.99, share, level, power); got < n {
				t.Fatalf("MinDetectablePaired(%d, %v) = %v, but less needs only %d", n, share, d, got)
			}
		}
		if d := stat.MinDetectableTwo(n, share, level, power); d < 1 {
			if got := stat.NeededNTwo(share, share+d*(1+1e-9), level, power); got > n && share+d < 1-1e-9 {
				t.Fatalf("MinDetectableTwo(%d, %v) = %v, which needs %d", n, share, d, got)
			}
		}
	})
}

func TestPowerAnyInput(t *testing.T) {
	nan := math.NaN()
	for name, got := range map[string]int{
		"more than differs":       stat.NeededNPaired(0.3, 0.2, 0.95, 0.8),
		"nothing differs":         stat.NeededNPaired(0, 0, 0.95, 0.8),
		"equal shares":            stat.NeededNTwo(0.4, 0.4, 0.95, 0.8),
		"no shares":               stat.NeededNTwo(nan, 2, 0.95, 0.8),
		"difference out of sight": stat.NeededNPaired(1e-200, 0.2, 0.95, 0.8),
	} {
		if got != math.MaxInt {
			t.Errorf("%s: %d items needed, want the largest number", name, got)
		}
	}
	for name, got := range map[string]float64{
		"no items": stat.MinDetectablePaired(0, 0.2, 0.95, 0.8), "one item": stat.MinDetectablePaired(1, 0.2, 0.95, 0.8),
		"no discordance": stat.MinDetectablePaired(100, nan, 0.95, 0.8), "share of 1": stat.MinDetectableTwo(100, 1, 0.95, 0.8),
		"one item each": stat.MinDetectableTwo(1, 0.5, 0.95, 0.8),
	} {
		if got != 1 {
			t.Errorf("%s: %v is detectable, want 1", name, got)
		}
	}
	if got := stat.MinDetectable(0, 1, math.Inf(1), 0.95, 0.8); got != math.MaxFloat64 {
		t.Errorf("MinDetectable(0) = %v, want the largest number", got)
	}
	if got, want := stat.MinDetectable(100, 1, 9, 7, -3), stat.MinDetectable(100, 1, 9, 0.95, 0.8); got != want {
		t.Errorf("MinDetectable at no level and power = %v, want %v", got, want)
	}
}

// The test that turns whole clusters finds a difference of that size about four times in
// five, and none where it cannot.
func TestMinDetectableClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{6, 8, 12} {
		se := 1 / math.Sqrt(float64(n))
		d := stat.MinDetectable(n, se, float64(n-1), 0.95, 0.8)
		const rounds = 2000
		found := 0
		for range rounds {
			diffs := make([]float64, n)
			for i := range diffs {
				diffs[i] = d + rng.NormFloat64()
			}
			if stat.PairedPermutation(diffs, 0, 1).P < 0.05 {
				found++
			}
		}
		if share := float64(found) / rounds; share < 0.75 || share > 0.85 {
			t.Errorf("%d clusters: a difference of %v is found in %v of cases, want about 0.8", n, d, share)
		}
	}
	for _, n := range []int{-1, 0, 1, 5} {
		if d := stat.MinDetectable(n, 0.1, 4, 0.95, 0.8); d != math.MaxFloat64 {
			t.Errorf("%d clusters: a difference of %v is found, want none", n, d)
		}
	}
	many, normal := stat.MinDetectable(5000, 0.1, 4999, 0.95, 0.8), stat.MinDetectable(5000, 0.1, math.Inf(1), 0.95, 0.8)
	if math.Abs(many/normal-1) > 0.001 {
		t.Errorf("5000 clusters: %v, want the %v of the normal distribution", many, normal)
	}
}
