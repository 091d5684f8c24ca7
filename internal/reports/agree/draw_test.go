package agree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"deem/internal/reports/agree"
	"deem/stat"
)

// TestDraw checks that a draw has the requested number of items, each once and unlabelled,
// and its share of every part.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var from []agree.Candidate
		for part := range rapid.IntRange(0, 6).Draw(rt, "parts") {
			for i := range rapid.IntRange(0, 80).Draw(rt, "size") {
				from = append(from, agree.Candidate{Category: fmt.Sprint(part / 2), Yes: part%2 == 0, Labelled: i%7 == 3})
			}
		}
		n, seed := rapid.IntRange(0, 200).Draw(rt, "n"), rapid.Uint64().Draw(rt, "seed")
		got := agree.Draw(from, n, seed)
		free := 0
		for _, c := range from {
			if !c.Labelled {
				free++
			}
		}
		if len(got) != min(n, free) {
			rt.Fatalf("Draw chose %d, want %d of %d", len(got), min(n, free), free)
		}
		sorted := slices.Sorted(slices.Values(got))
		if len(slices.Compact(slices.Clone(sorted))) != len(got) {
			rt.Errorf("Draw chose an item twice: %v", sorted)
		}
		for _, i := range got {
			if from[i].Labelled {
				rt.Errorf("Draw chose item %d, which has a label", i)
			}
		}
		if !slices.Equal(got, agree.Draw(from, n, seed)) {
			rt.Error("the same seed chooses others")
		}
	})
}

// TestDrawRare checks that a rare part gets enough labels, and that existing labels count.
func TestDrawRare(t *testing.T) {
	var from []agree.Candidate
	for i := range 1000 {
		from = append(from, agree.Candidate{Yes: i >= 20, Labelled: i >= 20 && i < 120})
	}
	count := func(chosen []int) (rare int) {
		for _, i := range chosen {
			if !from[i].Yes {
				rare++
			}
		}
		return rare
	}
	// In proportion the 20 rejected ones would get one or two of 60.
	if got := count(agree.Draw(from, 60, 1)); got < 5 || got > 8 {
		t.Errorf("the rare part gets %d of 60, want 5 and its share", got)
	}
	for i := range 5 {
		from[i].Labelled = true
	}
	if got := count(agree.Draw(from, 60, 1)); got > 2 {
		t.Errorf("the rare part has 5 labels and gets %d more of 60, want its share", got)
	}
	if slices.Equal(agree.Draw(from, 60, 1), agree.Draw(from, 60, 2)) {
		t.Error("two seeds choose the same")
	}
}

// TestPlannedCoverage labels the items of sampling plans, which are not proportional, and
// counts how often the interval of the score to quote contains the truth.
func TestPlannedCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const items, labels, draws = 1500, 120, 200
	held := 0
	for seed := range uint64(draws) {
		rng := rand.New(rand.NewPCG(seed, 7))
		pairs := make([]agree.Pair, items)
		from := make([]agree.Candidate, items)
		right := make([]bool, items)
		for i := range pairs {
			category := []string{"common", "rare"}[number(rng.Float64() < 0.03)]
			right[i] = rng.Float64() < 0.7
			accepted := right[i] && rng.Float64() < 0.97 || !right[i] && rng.Float64() < 0.4
			pairs[i] = item(i, category, accepted)
			from[i] = agree.Candidate{Category: category, Yes: accepted}
		}
		for _, i := range agree.Draw(from, labels, seed) {
			pairs[i].Truth = truth(right[i])
		}
		k := build(options(), pairs).Corrected()
		// The truth is the share in the population, 0.7.
		if k.Stratified.Lo <= 0.7 && 0.7 <= k.Stratified.Hi {
			held++
		}
	}
	t.Logf("the stratified interval held the truth in %d of %d plans (%.1f%%)", held, draws, 100*float64(held)/draws)
	if held < draws*91/100 || held > draws*99/100 {
		t.Errorf("the stratified interval held the truth in %d of %d plans, want about 95%%", held, draws)
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Labels of a plan that takes all of the rare verdicts say what labels of all items say about
// calibration, because each counts with the items that it represents. Error rates do not
// correct them.
func TestPlanWeightsCalibration(t *testing.T) {
	rng := rand.New(rand.NewPCG(40, 4))
	const items, labels, draws = 1200, 140, 40
	pairs := make([]agree.Pair, items)
	truths := make([]agree.Truth, items)
	from := make([]agree.Candidate, items)
	for i := range pairs {
		yes := i%50 > 0
		right := rng.Float64() < 0.97
		if !yes {
			right = rng.Float64() < 0.5
		}
		pairs[i] = item(i, fmt.Sprint(i%8), yes)
		sure := 0.5 + rng.Float64()/2
		if right {
			sure = 0.8 + rng.Float64()/5
		}
		pairs[i].Verdict.Confidence = &sure
		truths[i] = agree.Truth{Yes: yes == right, Score: float64(number(yes == right))}
		from[i] = agree.Candidate{Category: pairs[i].Item.Category, Yes: yes}
	}
	markUnsure(from, pairs)
	o := options()
	o.Draws = 2
	all := slices.Clone(pairs)
	for i := range all {
		all[i].Truth = &truths[i]
	}
	want := build(o, all).Agreement().Confidence
	brier, area, held := 0.0, 0.0, 0
	for seed := range uint64(draws) {
		drawn := slices.Clone(pairs)
		for _, c := range agree.DrawStrata(from, labels, seed) {
			truth := truths[c.Place]
			truth.Stratum, truth.Of, truth.Probability = fmt.Sprint("plan-", c.Stratum), c.Of, float64(c.Drawn)/float64(c.Of)
			drawn[c.Place].Truth = &truth
		}
		a := build(o, drawn).Agreement()
		if k := a.Corrected; k.Mix.Drawn != "plan" || k.RoganGladen.Method != stat.MethodNone || k.RoganGladen.N != 0 {
			t.Fatalf("drawn by %q, Rogan-Gladen %+v: want a plan, and no correction by error rates", k.Mix.Drawn, k.RoganGladen)
		}
		brier += a.Confidence.Brier / draws
		if a.Confidence.AUROC == nil { // Too few errors were drawn.
			continue
		}
		area += a.Confidence.AUROC.Value
		held++
	}
	area /= float64(held)
	t.Logf("Brier %.4f, and %.4f by plans; area %.3f, and %.3f", want.Brier, brier, want.AUROC.Value, area)
	if math.Abs(brier/want.Brier-1) > 0.1 || math.Abs(area-want.AUROC.Value) > 0.05 || held < draws/2 {
		t.Errorf("plans give a Brier score of %.4f and an area of %.3f, and labels of all items %.4f and %.3f", brier, area, want.Brier, want.AUROC.Value)
	}
}

// markUnsure says of each candidate whether the judge is unsure of it.
func markUnsure(from []agree.Candidate, pairs []agree.Pair) {
	var confidence []float64
	for _, p := range pairs {
		confidence = append(confidence, p.Confidence())
	}
	for i, unsure := range agree.Unsure(confidence) {
		from[i].Unsure = unsure
	}
}

// TestUnsure divides items by confidence.
func TestUnsure(t *testing.T) {
	none := math.NaN()
	for name, tt := range map[string]struct {
		confidence []float64
		want       string
	}{
		"nothing":                   {nil, ""},
		"no confidence":             {[]float64{none, none}, "--"},
		"a quarter":                 {[]float64{0.9, 0.5, 0.8, 0.7, 0.95, 0.6, 0.99, 1}, "-x---x--"},
		"some without one":          {[]float64{none, 0.5, 0.9, 0.95, 1, none}, "-x----"},
		"ties at the limit":         {[]float64{0.5, 0.5, 0.5, 0.9, 0.95, 0.97, 0.98, 1}, "xxx-----"},
		"nearly always the same":    {[]float64{1, 1, 1, 0.8, 1, 1, 1, 1}, "---x----"},
		"always the same":           {[]float64{0.9, 0.9, 0.9, 0.9}, "----"},
		"as unsure of half of them": {[]float64{0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1}, "--------"},
	} {
		got := ""
		for _, unsure := range agree.Unsure(tt.confidence) {
			got += map[bool]string{true: "x", false: "-"}[unsure]
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestPlanNoWorse compares labels that a plan draws, which takes more where the judge is unsure,
// with as many labels drawn at random from the run, by the width of the interval of the score
// to quote and by its error. A plan is better, and no worse where confidence says nothing.
func TestPlanNoWorse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const items, draws = 1200, 100
	for _, tt := range []struct {
		name         string
		right        float64
		sure, unsure float64 // the judge's share of errors
		labels       int
	}{
		{"errs where it is unsure", 0.7, 0.04, 0.35, 120},
		{"errs where it is unsure, few labels", 0.7, 0.04, 0.35, 60},
		{"errs where it is unsure, strong system", 0.92, 0.03, 0.25, 120},
		{"confidence says nothing", 0.7, 0.12, 0.12, 120},
		{"confidence says nothing, few labels", 0.7, 0.12, 0.12, 60},
		{"confidence says nothing, strong system", 0.92, 0.08, 0.08, 120},
	} {
		rng := rand.New(rand.NewPCG(40, uint64(tt.labels)))
		var width, off [2]float64
		held := 0
		for seed := range uint64(draws) {
			pairs, right := make([]agree.Pair, items), make([]bool, items)
			for i := range pairs {
				right[i] = rng.Float64() < tt.right
				sure, errs := 0.8+rng.Float64()/5, tt.sure
				if rng.Float64() < 0.25 {
					sure, errs = 0.5+rng.Float64()/4, tt.unsure
				}
				pairs[i] = item(i, "", right[i] != (rng.Float64() < errs))
				pairs[i].Verdict.Confidence = &sure
			}
			from := make([]agree.Candidate, items)
			for i, p := range pairs {
				from[i] = agree.Candidate{Yes: p.Verdict.Score == 1}
			}
			markUnsure(from, pairs)
			random := slices.Clone(pairs)
			for _, i := range rng.Perm(items)[:tt.labels] {
				random[i].Truth = truth(right[i])
			}
			for _, c := range agree.DrawStrata(from, tt.labels, seed) {
				label := truth(right[c.Place])
				label.Stratum, label.Of, label.Probability = fmt.Sprint("plan-", c.Stratum), c.Of, float64(c.Drawn)/float64(c.Of)
				pairs[c.Place].Truth = label
			}
			for way, list := range [][]agree.Pair{random, pairs} {
				est := build(options(), list).Corrected().Quoted()
				width[way] += (est.Hi - est.Lo) / draws
				off[way] += (est.Value - tt.right) * (est.Value - tt.right) / draws
				if way == 1 && !est.LeavesOut(tt.right) {
					held++
				}
			}
		}
		t.Logf("%s: width %.2f pp at random, %.2f by a plan; error %.2f and %.2f; %d of %d intervals hold the truth", tt.name,
			100*width[0], 100*width[1], 100*math.Sqrt(off[0]), 100*math.Sqrt(off[1]), held, draws)
		if width[1] > 1.01*width[0] {
			t.Errorf("%s: the interval of a plan is %.2f pp wide, and that of random labels %.2f", tt.name, 100*width[1], 100*width[0])
		}
		if held < draws*88/100 { // three standard errors below 95%
			t.Errorf("%s: %d of %d intervals hold the truth", tt.name, held, draws)
		}
	}
}
