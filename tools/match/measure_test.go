package main

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"deem/internal/evidence"
	"deem/stat"
)

const shared = "../../../shared/data"

// measure measures match on all sets, once. It skips a test that cannot have the figures.
func measure(t *testing.T) *Results {
	t.Helper()
	if _, err := os.Stat(shared); err != nil {
		t.Skipf("the published answers are not here: %v", err)
	}
	if testing.Short() || raceDetector {
		t.Skip("five fits take too long; TestFit fits under the race detector")
	}
	r, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var measured = sync.OnceValues(func() (*Results, error) { return Measure(shared) })

// Each set is measured with a model that was not fitted to it. The floors of the agreement are
// half a point below what match reached before it read claims. The calibration error may be 0.05;
// docs/match.md says why one set has more.
func TestAgainstLabels(t *testing.T) {
	r := measure(t)
	t.Logf("\n%s", r.Page())
	floors := map[string]float64{
		"human_evouna fid": .945, "human_evouna gpt35": .91, "human_evouna chatgpt": .895, "human_evouna gpt4": .915, "human_evouna newbing": .90,
		"human_cognee_hotpot": .915, "lme_cognitive_memory": .905, "lme_gemini_image_text": .915, "lme_mflow5": .925,
		"locomo_audit": .881, "locomo_audit adversarial-v1": .881, "locomo_memobase": .840, "locomo_acb_raw": .900,
		"locomo_core_raw": .9136, "locomo_mflow5": .881, "zh_halluqa_gpt4judge": .743,
	}
	errs := map[string]float64{"locomo_mflow5": .085, "locomo_audit adversarial-v1": 1}
	for _, f := range append(r.People, r.Others...) {
		if f.Name == "all" {
			continue
		}
		if f.Agreement < floors[f.Name] {
			t.Errorf("%s: agreement = %.4f, want at least %.4f", f.Name, f.Agreement, floors[f.Name])
		}
		delete(floors, f.Name)
		if limit := max(.05, errs[f.Name]); f.ECE > limit {
			t.Errorf("%s: ECE = %.4f, want at most %.3f", f.Name, f.ECE, limit)
		}
		if strings.HasSuffix(f.Name, adversarial) && (f.Accepts > .15 || f.Sure > .05) {
			t.Errorf("%s: accepts %.4f forced and %.4f, want at most 0.15 and 0.05", f.Name, f.Accepts, f.Sure)
		}
	}
	if len(floors) > 0 {
		t.Errorf("not measured: %v", floors)
	}
	all := r.People[len(r.People)-1]
	if all.Agreement < .92 || all.At95 < .88 || all.At97 < .75 || all.Agrees < .95 || all.Decided < .85 {
		t.Errorf("on questions held out match is %+v", all)
	}
}

// The numbers of the model that come from all sets are those that the sets give.
func TestModelSaysWhatIsMeasured(t *testing.T) {
	r := measure(t)
	m := evidence.Default()
	for k, slope := range r.Slopes {
		if math.Abs(slope-m.Slopes[k]) > .02 {
			t.Errorf("the slopes are %v, and the model says %v", r.Slopes, m.Slopes)
		}
	}
	if r.Error != m.Error {
		t.Errorf("the probabilities of undecided items are off by %.2f, and the model says %.2f", r.Error, m.Error)
	}
	// stat.Widened takes Student's quantile with as many degrees of freedom: the root mean square
	// of n gaps around zero has n.
	if r.Sets != 14 {
		t.Errorf("the error was measured on %d sets, want 14", r.Sets)
	}
}

// TestExpectedScoreCovers draws samples, of at most half the size, of each set that people judged, scores them with match as
// a report does, and counts how often the interval covers the share that people call right in the
// whole set. An answer that match decides wrongly is an error that the interval does not know of.
func TestExpectedScoreCovers(t *testing.T) {
	r := measure(t)
	const draws = 4000
	// The aim is 0.93 to 0.975; two standard errors of the simulation go on either side.
	low, high := .93-2*math.Sqrt(.93*.07/draws), .975+2*math.Sqrt(.975*.025/draws)
	m := evidence.Default()
	sets := map[string][]Judged{}
	for _, j := range r.items {
		if strings.HasPrefix(j.Set, "human_") {
			sets[j.Set] = append(sets[j.Set], j)
		}
	}
	for set, items := range sets {
		scored, right := scores(items, FitSlopes(r.items, items[0].folder()))
		truth := 0.0
		for _, yes := range right {
			truth += number(yes) / float64(len(right))
		}
		for _, n := range []int{50, min(200, len(items)/2)} {
			covered := 0
			draw := rand.New(rand.NewPCG(1, uint64(n)))
			for range draws {
				var values stat.Moments
				var guesses stat.Guesses
				for range n {
					s := scored[draw.IntN(len(scored))]
					value := number(s.P >= .5)
					if !s.Decides {
						value = s.P
						guesses.Add(s.P, 1)
					}
					values.Add(value, 1)
				}
				e := guesses.Allowance(float64(n), m.Error).Widen(stat.Mean(values, .95, stat.Unit), stat.Unit)
				covered += count(e.Lo <= truth && truth <= e.Hi)
			}
			share := float64(covered) / draws
			t.Logf("%s, %d answers: %.3f of the intervals cover %.3f", set, n, share, truth)
			if share < low || share > high {
				t.Errorf("%s, %d answers: the interval covers in %.4f of the draws, want %.4f to %.4f", set, n, share, low, high)
			}
		}
	}
}
