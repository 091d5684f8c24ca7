package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem/stat"
)

// Four items with three trials each, by hand.
func TestNoiseByHand(t *testing.T) {
	got := stat.Noise([][]float64{{1, 1, 1}, {1, 0, 1}, {0, 0, 0}, {0, 0, 1}})
	// The means of items are 1, 2/3, 0 and 1/3; within items the squared deviations
	// sum to 0, 2/3, 0 and 2/3 with two degrees of freedom each.
	judge := (4.0 / 3) / 8
	means := stat.MomentsOf([]float64{1, 2.0 / 3, 0, 1.0 / 3})
	items := means.Variance() - judge/3
	want := stat.NoiseReport{
		Items: 4, Trials: 3, Scores: 12,
		Mean:          stat.MeanIn(means, 0.95, stat.Unit),
		Majority:      stat.MeanIn(stat.MomentsOf([]float64{1, 1, 0, 0}), 0.95, stat.Unit),
		FlipRate:      stat.Proportion(2, 4),
		SESampling:    math.Sqrt(items / 4),
		SEJudge:       math.Sqrt(judge / 12),
		SETotal:       math.Sqrt(means.Variance() / 4),
		VarianceItems: items,
		VarianceJudge: judge,
		Reliability:   items / (items + judge),
		TrialMeans:    []float64{0.5, 0.25, 0.75},
		TrialSD:       0.25,
	}
	if diff := cmp.Diff(want, got, closely); diff != "" {
		t.Errorf("Noise (-want +got):\n%s", diff)
	}
}

func TestNoiseDegenerate(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name     string
		scores   [][]float64
		warnings []string
		items    int
	}{
		{"nothing", nil, []string{stat.WarnNoValues}, 0},
		{"no verdict", [][]float64{{nan, nan}, {}}, []string{stat.WarnNoValues}, 0},
		{"one trial", [][]float64{{1}, {0}}, []string{stat.WarnOneTrial}, 2},
		{"two trials", [][]float64{{1, 0}, {0, 0}}, []string{stat.WarnFewTrials}, 2},
		{"a missing verdict", [][]float64{{1, nan, 0}, {0, 0, 1}}, nil, 2},
		{"between", [][]float64{{0.2, 0.7, 1}}, []string{stat.WarnFractional}, 1},
		{"no number", [][]float64{{math.Inf(1), 1, 1, 0}}, []string{stat.WarnSkipped}, 1},
	} {
		got := stat.Noise(tt.scores)
		if !slices.Equal(got.Warnings, tt.warnings) || got.Items != tt.items {
			t.Errorf("%s: %d items, warnings %q, want %d and %q", tt.name, got.Items, got.Warnings, tt.items, tt.warnings)
		}
	}
}

// The order in which scores arrive changes no digit, and no number is none.
func TestNoiseOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type score struct {
			item  string
			trial int
			x     float64
		}
		var all []score
		for i := range rapid.IntRange(0, 6).Draw(t, "items") {
			for trial := range rapid.IntRange(0, 4).Draw(t, "trials") {
				all = append(all, score{fmt.Sprint(i), trial, rapid.Float64Range(-2, 2).Draw(t, "x")})
			}
		}
		var one, other stat.Trials
		for _, s := range all {
			one.AddTrial(s.item, s.trial, s.x)
		}
		for _, i := range rapid.Permutation(indices(len(all))).Draw(t, "order") {
			other.AddTrial(all[i].item, all[i].trial, all[i].x)
		}
		got := one.Noise(0.95, stat.Unit)
		if diff := cmp.Diff(got, other.Noise(0.95, stat.Unit)); diff != "" {
			t.Fatalf("another order gave another report (-one +other):\n%s", diff)
		}
		for _, x := range []float64{got.SEJudge, got.SESampling, got.SETotal, got.Reliability, got.VarianceItems, got.TrialSD} {
			if x-x != 0 || x < 0 {
				t.Fatalf("%+v holds a number that is none", got)
			}
		}
	})
}

// A judge that flips one verdict in ten, over items of which 70% are right: the
// parts of the noise come out as they went in, and the published spread of trials is
// the judge's part only.
func TestNoiseParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1925, 1))
	const items, trials, flip = 4000, 5, 0.1
	scores := make([][]float64, items)
	for i, truth := range verdicts(rng, items, 0.7) {
		for range trials {
			x := truth
			if rng.Float64() < flip {
				x = 1 - x
			}
			scores[i] = append(scores[i], x)
		}
	}
	got := stat.Noise(scores)
	// An item's expected score is 0.9 or 0.1.
	wantItems, wantJudge := 0.7*0.3*0.8*0.8, flip*(1-flip)
	if !near(got.VarianceItems, wantItems, 0.006) || !near(got.VarianceJudge, wantJudge, 0.003) {
		t.Errorf("variances %v of items and %v of the judge, want about %v and %v", got.VarianceItems, got.VarianceJudge, wantItems, wantJudge)
	}
	if want := 1 - math.Pow(0.9, 5) - math.Pow(0.1, 5); !near(got.FlipRate.Value, want, 0.03) {
		t.Errorf("flip rate %v, want about %v", got.FlipRate.Value, want)
	}
	if !near(got.Majority.Value, 0.7, 0.03) || !near(got.Mean.Value, 0.66, 0.03) {
		t.Errorf("majority %v, mean %v, want about 0.7 and 0.66", got.Majority.Value, got.Mean.Value)
	}
	t.Logf("sampling ±%.4f, judge ±%.4f, published ±%.4f", got.SESampling, got.SEJudge, got.TrialSD)
	if got.TrialSD > 2.5*got.SEJudge*math.Sqrt(trials) || got.SESampling < 1.5*got.SEJudge {
		t.Errorf("sampling %v, judge %v, published %v: want the first to be far the largest", got.SESampling, got.SEJudge, got.TrialSD)
	}
}
