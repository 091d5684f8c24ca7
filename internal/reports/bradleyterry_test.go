package reports

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// The numbers come from scripts/bradleyterry_vectors.py, which maximises the likelihood of
// Davidson and Beaver directly.
func TestBradleyTerryVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/bradleyterry.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Systems           int
		Contests          [][]any
		Strengths, Errors []float64
		Order, Ties       float64
		OrderError        float64 `json:"order_error"`
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 5 {
		t.Fatalf("%d vectors, %v", len(list), err)
	}
	for i, v := range list {
		var contests []contest
		for _, c := range v.Contests {
			contests = append(contests, contest{First: int(c[0].(float64)), Second: int(c[1].(float64)), Score: c[2].(float64), Cluster: c[3].(string)})
		}
		b, err := newBradleyTerry(v.Systems, contests, 0.95)
		if err != nil || b.Reason != "" {
			t.Fatalf("vector %d: %v %s", i, err, b.Reason)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("vector %d: %s = %.12f, want %.12f", i, what, got, want)
			}
		}
		for s, est := range b.Strengths {
			near(fmt.Sprint("strength ", s), est.Value, v.Strengths[s])
			near(fmt.Sprint("error of strength ", s), est.SE, v.Errors[s])
		}
		near("order", b.Order.Value, v.Order)
		near("error of order", b.Order.SE, v.OrderError)
		near("ties", b.Ties, v.Ties)

		// The order of contests changes no digit.
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(contests), func(i, j int) { contests[i], contests[j] = contests[j], contests[i] })
		again, err := newBradleyTerry(v.Systems, contests, 0.95)
		if err != nil || fmt.Sprint(again.Strengths, again.Order, again.Ties) != fmt.Sprint(b.Strengths, b.Order, b.Ties) {
			t.Errorf("vector %d: another order of contests gives other numbers: %v", i, err)
		}
	}
}

// Two systems without ties and without an effect of order have the strength that can be
// computed by hand: the log odds of winning.
func TestBradleyTerryByHand(t *testing.T) {
	var contests []contest
	for i := range 40 {
		score := 1.0
		if i%4 == 0 {
			score = 0
		}
		contests = append(contests, contest{First: 0, Second: 1, Score: score}, contest{First: 1, Second: 0, Score: 1 - score})
	}
	b, err := newBradleyTerry(2, contests, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	est, p := b.Difference(0, 1)
	if math.Abs(est.Value-math.Log(3)) > 1e-9 || math.Abs(b.Order.Value) > 1e-9 || math.Abs(chance(est).Value-0.75) > 1e-9 || p > 0.001 {
		t.Errorf("difference %v, order %v, p %v", est, b.Order, p)
	}
}

// Where no finite strength fits, there is a reason and no number.
func TestBradleyTerryWithoutMaximum(t *testing.T) {
	both := func(a, b int, scores ...float64) []contest {
		var list []contest
		for i, s := range scores {
			c := fmt.Sprint(a, b, i)
			list = append(list, contest{First: a, Second: b, Score: s, Cluster: c}, contest{First: b, Second: a, Score: 1 - s, Cluster: c})
		}
		return list
	}
	mixed := []float64{1, 0, 1, 0.5, 1, 0, 1, 1}
	first := []contest{}
	for range 20 {
		first = append(first, contest{First: 0, Second: 1, Score: 1}, contest{First: 1, Second: 0, Score: 1})
	}
	oneWay := []contest{}
	for i := range 20 {
		oneWay = append(oneWay, contest{First: 0, Second: 1, Score: float64(i % 2)})
	}
	for _, c := range []struct {
		name     string
		systems  int
		contests []contest
		reason   string
		extreme  []int
	}{
		{"one won everything", 3, slices.Concat(both(0, 1, 1, 1, 1), both(0, 2, 1, 1), both(1, 2, mixed...)), "", []int{1, 0, 0}},
		{"one lost everything", 3, slices.Concat(both(0, 1, mixed...), both(0, 2, 1, 1), both(1, 2, 1, 1)), "", []int{0, 0, -1}},
		{"two systems, one won everything", 2, both(0, 1, 1, 1, 1), "fewer than two systems", []int{1, -1}},
		{"a group won everything", 4, slices.Concat(both(0, 1, mixed...), both(2, 3, mixed...), both(0, 2, 1, 1), both(1, 3, 1)), "a group of systems", []int{0, 0, 0, 0}},
		{"never compared", 4, slices.Concat(both(0, 1, mixed...), both(2, 3, mixed...)), "never compared", []int{0, 0, 0, 0}},
		{"all ties", 2, both(0, 1, 0.5, 0.5, 0.5), "every comparison is a tie", []int{0, 0}},
		{"the first always wins", 2, first, "the order in which", []int{0, 0}},
		{"one order only", 2, oneWay, "in both orders", []int{0, 0}},
	} {
		b, err := newBradleyTerry(c.systems, c.contests, 0.95)
		if err != nil || !strings.Contains(b.Reason, c.reason) || (c.reason == "") != (b.Reason == "") || !slices.Equal(b.Extreme, c.extreme) {
			t.Errorf("%s: reason %q, extreme %v, error %v", c.name, b.Reason, b.Extreme, err)
		}
		for i, est := range b.Strengths {
			if has := est.Method != ""; has != (b.Reason == "" && b.Extreme[i] == 0) {
				t.Errorf("%s: strength %d is %v", c.name, i, est)
			}
		}
	}
	for _, c := range []contest{{First: 0, Second: 0, Score: 1}, {First: 0, Second: 2}, {First: -1, Second: 1}, {First: 0, Second: 1, Score: math.NaN()}} {
		if _, err := newBradleyTerry(2, []contest{c}, 0.95); err == nil {
			t.Errorf("contest %v was taken", c)
		}
	}
}

// With clusters in which a system does well or badly as a whole, an interval that takes
// contests for independent misses the truth far too often. The systems are equally
// strong, so that the truth is 0 whatever the clusters do.
func TestBradleyTerryCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	const draws = 600
	for _, clusters := range []int{15, 40} {
		held, naive := 0, 0
		rng := rand.New(rand.NewPCG(7, uint64(clusters)))
		for range draws {
			var contests []contest
			for c := range clusters {
				shift := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
				for item := range 6 {
					i, j := item%3, (item+1)%3
					for _, pair := range [][2]int{{i, j}, {j, i}} {
						half := (shift[pair[0]] - shift[pair[1]] + 0.5) / 2
						win, tie, lose := math.Exp(half), 0.7, math.Exp(-half)
						score, u := 0.0, rng.Float64()*(win+tie+lose)
						if u < win {
							score = 1
						} else if u < win+tie {
							score = 0.5
						}
						contests = append(contests, contest{First: pair[0], Second: pair[1], Score: score, Cluster: fmt.Sprint(c)})
					}
				}
			}
			b, err := newBradleyTerry(3, contests, 0.95)
			if err != nil || b.Reason != "" {
				t.Fatal(err, b.Reason)
			}
			if est, _ := b.Difference(0, 1); !est.LeavesOut(0) {
				held++
			}
			for i := range contests {
				contests[i].Cluster = ""
			}
			if b, err = newBradleyTerry(3, contests, 0.95); err != nil {
				t.Fatal(err)
			}
			if est, _ := b.Difference(0, 1); !est.LeavesOut(0) {
				naive++
			}
		}
		t.Logf("%d clusters: %.3f, and %.3f as if independent", clusters, float64(held)/draws, float64(naive)/draws)
		if share := float64(held) / draws; share < 0.93 || share > 0.975 {
			t.Errorf("%d clusters: the interval holds the truth in %.3f of draws", clusters, share)
		}
		if share := float64(naive) / draws; share > 0.9 {
			t.Errorf("%d clusters: the draws are not clustered: %.3f", clusters, share)
		}
	}
}
