package agreement_test

import (
	"testing"

	"pgregory.net/rapid"

	"deem/internal/agreement"
	"deem/stat"
)

func TestConfusionRates(t *testing.T) {
	c := agreement.Confusion{TP: 40, FP: 10, FN: 20, TN: 30}
	for name, tt := range map[string]struct {
		got  stat.Estimate
		want float64
		n    int
	}{
		"accuracy":   {c.Accuracy(0.95), 0.7, 100},
		"judge rate": {c.JudgeRate(0.95), 0.5, 100},
		"kappa":      {c.Kappa(0.95), 0.4, 100},
		"AC1":        {gwetAC1(c), (0.7 - 0.495) / (1 - 0.495), 100},
	} {
		if !near(tt.got.Value, tt.want, 1e-12) || tt.got.N != tt.n {
			t.Errorf("%s = %v of %d, want %v of %d", name, tt.got.Value, tt.got.N, tt.want, tt.n)
		}
	}
}

func TestConfusionAdd(t *testing.T) {
	var c agreement.Confusion
	for _, answer := range [][2]bool{{true, true}, {false, true}, {false, true}, {true, false}, {false, false}} {
		c.Add(answer[0], answer[1])
	}
	if want := (agreement.Confusion{TP: 1, FP: 2, FN: 1, TN: 1}); c != want {
		t.Errorf("Add gives %+v, want %+v", c, want)
	}
}

func TestConfusionIsSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(-2, 1_000_000)
		c := agreement.Confusion{TP: count.Draw(t, "tp"), FP: count.Draw(t, "fp"), FN: count.Draw(t, "fn"), TN: count.Draw(t, "tn")}
		for _, est := range []stat.Estimate{
			c.Accuracy(0.95), c.JudgeRate(0.95), c.Kappa(0.95),
		} {
			sane(t, "estimate", est)
		}
	})
}
