package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"deem/internal/agreement"
	"deem/stat"
)

// Judges that make the same errors are worth one, and judges that err independently are worth
// as many as they are.
func TestEffectiveVotesAtTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var same, apart agreement.Votes
	for range 4000 {
		wrong := rng.Float64() < 0.2
		same.Add("", 1, []bool{wrong, wrong, wrong})
		apart.Add("", 1, []bool{rng.Float64() < 0.2, rng.Float64() < 0.1, rng.Float64() < 0.3})
	}
	if got, r := same.Effective(0.95); got.Value > 1+1e-9 || r.Value < 1-1e-9 {
		t.Errorf("equal judges: %+v, correlation %+v, want 1 and 1", got, r)
	}
	if got, r := apart.Effective(0.95); got.Value < 2.8 || math.Abs(r.Value) > 0.04 || got.Hi < 2.99 {
		t.Errorf("independent judges: %+v, correlation %+v, want 3 and 0", got, r)
	}
	var never agreement.Votes
	never.Add("", 1, []bool{false, true})
	never.Add("", 1, []bool{false, false})
	if got, _ := never.Effective(0.95); got.Method != stat.MethodNone {
		t.Errorf("a judge without errors: %+v, want no interval", got)
	}
	var empty agreement.Votes
	if got, _ := empty.Effective(0.95); got.Method != stat.MethodNone {
		t.Errorf("without items: %+v, want no interval", got)
	}
}

// The interval of the effective number of votes holds, in clusters too. Errors are shared
// where an item is hard, or a whole cluster is.
func TestEffectiveVotesCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, clusters := range []int{0, 40} {
		draw := func(rng *rand.Rand, n int) *agreement.Votes {
			var v agreement.Votes
			hard := map[int]bool{}
			for i := range n {
				name, group := "", i
				if clusters > 0 {
					group = i % clusters
					name = fmt.Sprint(group)
				}
				if _, seen := hard[group]; !seen {
					hard[group] = rng.Float64() < 0.3
				}
				p := 0.1
				if hard[group] {
					p = 0.5
				}
				v.Add(name, 1, []bool{rng.Float64() < p, rng.Float64() < p, rng.Float64() < p, rng.Float64() < p})
			}
			return &v
		}
		// Each judge errs with probability 0.22, and two of them on 0.082 of the items.
		r := (0.7*0.01 + 0.3*0.25 - 0.22*0.22) / (0.22 * 0.78)
		want := 4 / (1 + 3*r)
		const draws = 400
		hits := 0
		for seed := range uint64(draws) {
			got, _ := draw(rand.New(rand.NewPCG(seed, 7)), 400).Effective(0.95)
			if !got.LeavesOut(want) {
				hits++
			}
		}
		if share := float64(hits) / draws; share < 0.91 || share > 0.99 {
			t.Errorf("%d clusters: %.3f of the intervals hold %.3f, want 0.95", clusters, share, want)
		}
	}
}
