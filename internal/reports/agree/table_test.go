package agree_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"deem"
	"deem/internal/agreement"
	"deem/internal/reports/agree"
	"deem/stat"
)

var grades = []string{"good", "fair", "poor"}

// graded returns the i-th item, to which people and judge give these labels.
func graded(i int, people, judge, cluster string) agree.Pair {
	score := map[string]float64{"good": 1, "fair": 0.5}
	return agree.Pair{
		Item: deem.Item{ID: fmt.Sprint(i), Cluster: cluster}, Position: i,
		Verdict: &deem.Verdict{Label: judge, Score: score[judge]},
		Truth:   &agree.Truth{Label: people, Yes: score[people] >= 0.5, Score: score[people]},
	}
}

// TestLabelTable compares the table of labels with kappa and the lower ends of the
// intervals of Fleiss, Cohen and Everitt, which were computed by hand from their formulas.
func TestLabelTable(t *testing.T) {
	counts := [][]int{{20, 4, 1}, {3, 15, 5}, {0, 2, 10}}
	b := agree.New(agree.Options{Labels: grades, Ordered: true})
	n := 0
	for i, row := range counts {
		for j, times := range row {
			for range times {
				b.Add(graded(n, grades[i], grades[j], ""))
				n++
			}
		}
	}
	other := graded(n, "yes", "good", "")
	b.Add(other)
	got := b.Agreement().Labels
	if got == nil || fmt.Sprint(got.Counts) != fmt.Sprint(counts) || got.Others != 1 {
		t.Fatalf("labels = %+v, want the counts %v and one other", got, counts)
	}
	for _, c := range []struct {
		w         agreement.Weighting
		est       stat.Estimate
		value, lo float64
	}{
		{agreement.Unweighted, got.Kappa, 0.6170212765957446, 0.4506},
		{agreement.Linear, *got.Linear, 0.6827495042961003, 0.5361},
		{agreement.Quadratic, *got.Quadratic, 0.753312014618547, 0.6154},
	} {
		if math.Abs(c.est.Value-c.value) > 1e-12 || math.Abs(c.est.Lo-c.lo) > 0.07 || c.est.N != 60 {
			t.Errorf("kappa with weights %q = %+v, want %v, and about %v at the lower end", c.w, c.est, c.value, c.lo)
		}
	}
	if got.Agreement.Value != 45.0/60 {
		t.Errorf("agreement = %+v, want 45 of 60", got.Agreement)
	}
	for _, o := range []agree.Options{{}, {Labels: grades[:2], Ordered: true}} {
		b := agree.New(o)
		b.Add(graded(0, "good", "good", ""))
		if got := b.Agreement().Labels; got != nil {
			t.Errorf("a judge with labels %v has the table %+v, want none", o.Labels, got)
		}
	}
}

// TestLabelTableClusters checks that clusters make the interval wider, and that it then
// contains the true kappa about as often as its level.
func TestLabelTableClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	simulate := func(clusters, size int) *agree.LabelTable {
		b := agree.New(agree.Options{Labels: grades, Ordered: true})
		for c := range clusters {
			hard := rnd.IntN(2) // The judge errs on whole conversations.
			for i := range size {
				people := rnd.IntN(3)
				judge := people
				if hard == 1 && rnd.IntN(2) == 0 {
					judge = rnd.IntN(3)
				}
				b.Add(graded(c*size+i, grades[people], grades[judge], fmt.Sprint("c", c)))
			}
		}
		return b.Agreement().Labels
	}
	const truth = 0.75 // a quarter of the labels are drawn anew
	held, runs := 0, 40
	for range runs {
		if est := simulate(40, 5).Quadratic; est.Lo <= truth && truth <= est.Hi {
			held++
		}
	}
	if held < 36 {
		t.Errorf("the interval of quadratic kappa held the truth in %d of %d simulations, want about 95%%", held, runs)
	}
}
