package agree_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"deem"
	"deem/internal/reports/agree"
)

// TestBridgePairs retires each of nine judges of 3,200 answers of eight systems for each of the
// others: the new judge is called for 200 of the answers. BRIDGE=N draws N times for each pair.
func TestBridgePairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	rows := readTrivia(t)
	const calls = 200
	draws := 2
	if n, err := strconv.Atoi(os.Getenv("BRIDGE")); err == nil {
		draws = n
	}
	names := slices.Sorted(maps.Keys(rows[0].Judges))
	rng := rand.New(rand.NewPCG(40, 9))
	pairs, hits, all, half := 0, 0, 0, 0
	for _, was := range names {
		for _, is := range names {
			if was == is {
				continue
			}
			truth := 0.0
			for _, r := range rows {
				if r.Judges[is] {
					truth += 1 / float64(len(rows))
				}
			}
			pairs++
			worth := 0.0
			for range draws {
				list := make([]agree.Pair, len(rows))
				says := make([]bool, len(rows))
				for i := range list {
					r := rows[rng.IntN(len(rows))]
					v := &deem.Verdict{Label: "no"}
					if r.Judges[was] {
						v = &deem.Verdict{Label: "yes", Score: 1}
					}
					list[i] = agree.Pair{Item: deem.Item{ID: fmt.Sprint(i), Category: r.System}, Position: i, Verdict: v}
					says[i] = r.Judges[is]
				}
				b := agree.NewBridge(list, calls, rng.Uint64())
				for _, half := range []func() []int{b.First, b.Second} {
					for _, i := range half() {
						answer := &agree.Truth{Yes: says[i]}
						if says[i] {
							answer.Score = 1
						}
						b.Answer(i, answer)
					}
				}
				score := b.Score(agree.Options{})
				if score.Known != calls {
					t.Fatalf("%d answers, want %d", score.Known, calls)
				}
				all++
				if !score.LeavesOut(truth) {
					hits++
				}
				worth += float64(score.Calls()) / float64(draws)
			}
			if worth > 2*calls {
				half++
			}
		}
	}
	coverage := float64(hits) / float64(all)
	t.Logf("%d pairs, %d draws: coverage %.1f%%; half of the calls are saved in %d pairs", pairs, all, 100*coverage, half)
	slack := 2.5 * math.Sqrt(0.95*0.05/float64(all))
	if coverage < 0.93-slack || coverage > 0.97+slack {
		t.Errorf("%.1f%% of the intervals hold what the new judge says of all answers, want 93%% to 97%%", 100*coverage)
	}
	if half < pairs/2 {
		t.Errorf("200 calls are worth 400 or more in %d of %d pairs, want half of them", half, pairs)
	}
}
