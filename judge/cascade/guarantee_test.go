package cascade

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/stat"
)

func TestLabelsNeeded(t *testing.T) {
	for _, tt := range []struct {
		alpha, delta float64
		want         int
	}{
		{0.05, 0.05, 59},
		{0.1, 0.1, 22},
		{0.05, 0.1, 45},
		{0.01, 0.05, 299},
		{0.5, 0.5, 1},
		{0.9, 0.9, 1},
		{0, 0.5, math.MaxInt},
		{math.NaN(), 0.5, math.MaxInt},
		{0.5, 1, math.MaxInt},
		{math.Inf(1), -1, math.MaxInt},
	} {
		if got := labelsNeeded(tt.alpha, tt.delta); got != tt.want {
			t.Errorf("labelsNeeded(%v, %v) = %d, want %d", tt.alpha, tt.delta, got, tt.want)
		}
	}
}

// guaranteed returns what guarantee sets.
func guaranteed(decisions []trusted, alpha, delta float64) (f Fitted, err error) {
	err = f.guarantee(decisions, alpha, delta)
	return f, err
}

// decisions are right with the probability that confidence says.
func decisions(r *rand.Rand, n int) []trusted {
	list := make([]trusted, n)
	for i := range list {
		c := 0.5 + r.Float64()/2
		list[i] = trusted{confidence: c, right: r.Float64() < c}
	}
	return list
}

// TestGuaranteeKeepsItsPromise fits a judge whose confidence is true, again and again,
// and counts how often the share of errors above the threshold, which is known exactly
// here, exceeds alpha.
func TestGuaranteeKeepsItsPromise(t *testing.T) {
	t.Parallel()
	const alpha, delta, times = 0.1, 0.1, 1000
	r := rand.New(rand.NewPCG(7, 1))
	broken, made, decided := 0, 0, 0.0
	for range times {
		p, err := guaranteed(decisions(r, 1000), alpha, delta)
		if err != nil {
			continue
		}
		made++
		decided += 2 * (1 - p.Threshold) / times
		if risk := (1 - p.Threshold) / 2; risk > alpha {
			broken++
		}
	}
	// 4 standard errors above delta is out of reach of chance.
	if most := delta*times + 4*math.Sqrt(times*delta*(1-delta)); float64(broken) > most {
		t.Errorf("the promise was broken in %d of %d fits, want at most %.0f", broken, times, most)
	}
	if made < times*9/10 || decided < 0.2 {
		t.Errorf("%d of %d fits made a promise and decided %.2f on average, want nearly all and at least 0.2 of the possible 0.4", made, times, decided)
	}
	t.Logf("broken in %d of %d, decided %.3f of at most 0.4", broken, times, decided)
}

func TestGuaranteeRefuses(t *testing.T) {
	right := make([]trusted, 58)
	for i := range right {
		right[i] = trusted{confidence: 1, right: true}
	}
	_, err := guaranteed(right, 0.05, 0.05)
	if no, ok := errors.AsType[*FitError](err); !errors.Is(err, ErrTooFew) || !ok || no.Need != 59 || no.Labelled != 58 {
		t.Errorf("58 labels, all right: error %+v, want too few with 59 needed", err)
	}
	p, err := guaranteed(slices.Concat(right, right[:1]), 0.05, 0.05)
	if err != nil || p.Decided != 59 || p.Bound > 0.05 {
		t.Errorf("59 labels, all right: %+v, %v, want all decided", p, err)
	}
	coin := make([]trusted, 1000)
	for i := range coin {
		coin[i] = trusted{confidence: 0.9, right: i%2 == 0}
	}
	_, err = guaranteed(coin, 0.05, 0.05)
	if no, ok := errors.AsType[*FitError](err); !ok || !errors.Is(err, errTooWrong) || no.Decided != 1000 || no.Wrong != 500 {
		t.Errorf("a coin: error %+v, want that its 500 errors are too many", err)
	}
}

// TestGuaranteeHolds states what holds of any promise, whatever the decisions.
func TestGuaranteeHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 400).Draw(rt, "n")
		levels := rapid.IntRange(1, 50).Draw(rt, "levels")
		alpha := rapid.Float64Range(0.02, 0.4).Draw(rt, "alpha")
		delta := rapid.Float64Range(0.02, 0.4).Draw(rt, "delta")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		list := make([]trusted, n)
		for i := range list {
			list[i] = trusted{confidence: float64(r.IntN(levels)) / float64(levels), right: r.IntN(10) > 0}
		}
		p, err := guaranteed(list, alpha, delta)
		if err != nil {
			return
		}
		decided, wrong := 0, 0
		for _, d := range list {
			if d.confidence >= p.Threshold {
				decided++
				if !d.right {
					wrong++
				}
			}
		}
		if p.Decided != decided || p.Wrong != wrong || p.Labelled != n {
			rt.Fatalf("promise %+v, want %d decided and %d wrong of %d", p, decided, wrong, n)
		}
		if p.Bound > alpha+1e-9 || p.Bound < float64(wrong)/float64(decided) {
			rt.Fatalf("bound %v of %d in %d, want between the share and alpha %v", p.Bound, wrong, decided, alpha)
		}
		// The bound is the upper half of a two-sided interval.
		if cp := stat.ClopperPearson(wrong, decided, 1-2*delta); math.Abs(p.Bound-cp.Hi) > 1e-9 {
			rt.Fatalf("bound %v, want %v", p.Bound, cp.Hi)
		}
	})
}
