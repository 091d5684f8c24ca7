package agreement_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"deem/internal/agreement"
	"deem/stat"
)

// sampled returns items of which people label n, drawn at random, in clusters of the given
// size. The judge accepts 9 of 10 right responses and rejects 8 of 10 wrong ones.
func sampled(rng *rand.Rand, clusters, size, n int, p, icc float64) []agreement.Predicted {
	var items []agreement.Predicted
	var truths []float64
	for i, share := range clusterShares(rng, clusters, p, icc) {
		cluster := ""
		if size > 1 {
			cluster = fmt.Sprint(i)
		}
		for range size {
			right := rng.Float64() < share
			truths = append(truths, agreement.Number(right))
			items = append(items, agreement.Predicted{
				Cluster: cluster, Weight: 1, Judge: agreement.Number(decide(rng, right, 0.9, 0.8)), Truth: math.NaN(),
			})
		}
	}
	for _, i := range rng.Perm(len(items))[:n] {
		items[i].Truth = truths[i]
	}
	return items
}

// The value is the formula of PPI++, and the weight of the judge the least variance.
func TestPredictByHand(t *testing.T) {
	yes := func(judge, truth float64) agreement.Predicted {
		return agreement.Predicted{Weight: 1, Judge: judge, Truth: truth}
	}
	items := slices.Concat(slices.Repeat([]agreement.Predicted{yes(1, 1)}, 30), slices.Repeat([]agreement.Predicted{yes(0, 0)}, 20),
		slices.Repeat([]agreement.Predicted{yes(1, 0)}, 5), slices.Repeat([]agreement.Predicted{yes(0, 1)}, 5),
		slices.Repeat([]agreement.Predicted{yes(1, math.NaN())}, 400), slices.Repeat([]agreement.Predicted{yes(0, math.NaN())}, 200))
	p := agreement.Predict(items, 0.95)
	want := 35.0/60 + p.Lambda*(435.0/660-35.0/60)
	if math.Abs(p.Value-want) > 1e-12 || p.Known != 60 || p.Items != 660 {
		t.Errorf("Predict = %+v, want %v", p, want)
	}
	// Covariance over variance of the judge in the labels: (30·20 - 5·5)/60² over 35·25/60².
	if want := 575.0 / 875; math.Abs(p.Lambda-want) > 0.03 {
		t.Errorf("lambda = %v, want about %v", p.Lambda, want)
	}
	if !(p.Hi-p.Lo < p.Alone.Hi-p.Alone.Lo) || p.Calls() < 70 {
		t.Errorf("%v is no narrower than %v of the labels alone, and worth %d labels", p.Estimate, p.Alone, p.Calls())
	}
}

// A judge that knows nothing does not widen the interval, and labels of an item with half
// the chance count twice.
func TestPredictWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	items := sampled(rng, 300, 1, 100, 0.7, 0)
	for i := range items {
		items[i].Judge = float64(rng.IntN(2))
	}
	if p := agreement.Predict(items, 0.95); p.Hi-p.Lo > p.Alone.Hi-p.Alone.Lo {
		t.Errorf("a judge that guesses makes the interval wider: %+v", p)
	}
	const draws = 300
	hits := 0
	for range draws {
		items := sampled(rng, 800, 1, 800, 0.7, 0)
		for i := range items {
			items[i].Chance = 0.05
			if items[i].Judge == 0 {
				items[i].Chance = 0.3 // More of the rejected responses are labelled.
			}
			if rng.Float64() >= items[i].Chance {
				items[i].Truth = math.NaN()
			}
		}
		if !agreement.Predict(items, 0.95).LeavesOut(0.7) {
			hits++
		}
	}
	if hits < 0.92*draws {
		t.Errorf("%d of %d intervals hold the truth with unequal chances, want 92%%", hits, draws)
	}
}

func TestPredictDegenerate(t *testing.T) {
	one := agreement.Predicted{Weight: 1, Judge: 1, Truth: math.NaN()}
	for name, items := range map[string][]agreement.Predicted{
		"nothing": nil, "no label": {one, one}, "one label": {{Weight: 1, Judge: 1, Truth: 1}, one},
		"one cluster": slices.Repeat([]agreement.Predicted{{Cluster: "a", Weight: 1, Judge: 1, Truth: 1}}, 20),
	} {
		if p := agreement.Predict(items, 0.95); p.Method != stat.MethodNone || len(p.Warnings) == 0 {
			t.Errorf("%s: %+v, want no interval and a reason", name, p)
		}
	}
	all := slices.Repeat([]agreement.Predicted{{Weight: 1, Judge: 1, Truth: 1}}, 60)
	if p := agreement.Predict(all, 0.95); p.Value != 1 || p.Hi != 1 || !(p.Lo > 0.9 && p.Lo < 0.97) {
		t.Errorf("60 of 60: %+v, want an interval from 0.9 or more to 1", p)
	}
}

// TestPredictPairs retires each of nine judges of 3,200 answers for each of the others: the new
// judge sees 200 of the answers. With the correlation r of the two judges, no method that
// knows the old verdicts alone needs fewer than 1-r² of the calls, so that half of the calls
// are saved where r² is above one half and a little more, as it is for 20 of the pairs.
func TestPredictPairs(t *testing.T) {
	const calls = 200
	rows := readTrivia(t)
	names := slices.Sorted(maps.Keys(rows[0].Judges))
	rng := rand.New(rand.NewPCG(40, 9))
	const draws = 16
	pairs, hits, all, possible, saved, weak := 0, 0, 0, 0, 0, 0
	for _, was := range names {
		for _, is := range names {
			if was == is {
				continue
			}
			var c agreement.Confusion
			for _, r := range rows {
				c.Add(r.Judges[is], r.Judges[was])
			}
			n := float64(c.N())
			p, q := float64(c.TP+c.FN)/n, float64(c.TP+c.FP)/n
			r := (float64(c.TP)/n - p*q) / math.Sqrt(p*(1-p)*q*(1-q))
			pairs++
			worth := 0.0
			for range draws {
				items := make([]agreement.Predicted, len(rows))
				for i := range items {
					row := rows[rng.IntN(len(rows))]
					items[i] = agreement.Predicted{Weight: 1, Judge: agreement.Number(row.Judges[was]), Truth: math.NaN()}
					if i < calls { // The answers are in random order.
						items[i].Truth = agreement.Number(row.Judges[is])
					}
				}
				got := agreement.Predict(items, 0.95)
				all++
				if !got.LeavesOut(p) {
					hits++
				}
				worth += float64(got.Calls()) / float64(draws)
			}
			switch {
			case r*r > 0.58: // half, and what so few calls cost
				if possible++; worth > 2*calls {
					saved++
				}
			case r*r < 0.1:
				if weak++; worth > 1.2*calls {
					t.Errorf("%s for %s: 200 calls are worth %.0f, and the old judge knows next to nothing", is, was, worth)
				}
			}
		}
	}
	coverage := float64(hits) / float64(all)
	t.Logf("%d pairs, %d draws: coverage %.1f%%; half of the calls are saved in %d of %d pairs that allow it", pairs, all, 100*coverage, saved, possible)
	if pairs != 72 || coverage < 0.93 || coverage > 0.97 {
		t.Errorf("the intervals of %d pairs of judges hold the truth in %.1f%%, want 93 to 97%%", pairs, 100*coverage)
	}
	if possible < 12 || 10*saved < 9*possible || weak < 20 {
		t.Errorf("half of the calls are saved in %d of %d pairs that allow it, and %d pairs have a weak judge", saved, possible, weak)
	}
}
