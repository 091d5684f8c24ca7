package agreement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"deem/internal/agreement"
	"deem/internal/reports/agree"
	"deem/internal/reports/compare"
)

// A contest is two systems, of which the judge favours one: it accepts more wrong
// responses of the second, and rejects more right ones of the first.
type contest struct {
	name           string
	clusters, size int
	icc            float64
	right          [2]float64 // the share of right responses of each system
	accepts        [2]float64 // the share of right responses that the judge accepts
	rejects        [2]float64 // the share of wrong responses that it rejects
	labels         int        // of each system
	apart          bool       // people label other items of the second system than of the first
	planned        bool       // people label more of the responses that the judge rejects, by a plan
}

// draw returns the difference that "deem compare --labels" prints.
func (w contest) draw(rng *rand.Rand) compare.Pair {
	b := compare.New(runsCalled(2), compare.Options{Seed: 1})
	shares := [2][]float64{clusterShares(rng, w.clusters, w.right[0], w.icc), clusterShares(rng, w.clusters, w.right[1], w.icc)}
	n := w.clusters * w.size
	people := [2]*agree.Builder{agree.New(agree.Options{People: true}), agree.New(agree.Options{People: true})}
	chosen := [2]map[int]bool{{}, {}}
	for s := range chosen {
		if s == 1 && !w.apart {
			chosen[1] = chosen[0]
			break
		}
		for _, i := range rng.Perm(n)[:w.labels] {
			chosen[s][i] = true
		}
	}
	for i := range n {
		cluster := ""
		if w.size > 1 {
			cluster = fmt.Sprint(i / w.size)
		}
		row := compare.Row{ID: fmt.Sprint(i)}
		// The systems find the same items hard.
		luck := rng.Float64()
		for s := range shares {
			if rng.Float64() < 0.5 {
				luck = rng.Float64()
			}
			right := luck < shares[s][i/w.size]
			c := compare.Cell{Present: true, Judged: true, Weight: 1, Cluster: cluster, Label: "no"}
			if decide(rng, right, w.accepts[s], w.rejects[s]) {
				c.Label, c.Score = "yes", 1
			}
			p := judged(row.ID, cluster, "", i, c.Score == 1, nil)
			if w.planned {
				// The plan of another judge, so that its strata are not those of this one.
				p.Truth = &agree.Truth{Stratum: fmt.Sprint("plan-", c.Label), Of: n, Probability: 0.5 - 0.35*c.Score}
			} else {
				p.Truth = &agree.Truth{}
			}
			if p.Truth.Yes = right; right {
				p.Truth.Score = 1
			}
			if w.planned && rng.Float64() >= p.Truth.Probability || !w.planned && !chosen[s][i] {
				p.Truth = nil
			}
			people[s].Add(p)
			row.Cells = append(row.Cells, c)
		}
		b.Add(row)
	}
	for s := range shares {
		k := people[s].Corrected()
		b.Labelled(s, compare.Labelling{Score: k.Quoted(), Influence: k.Influence(), Passes: k.Metric == compare.PassRate, Side: compare.CorrectedSide{Labels: k.PPI.Known}})
	}
	return b.Comparison().Pairs[0]
}

// contests are the settings in which the corrected difference must hold. In all of them
// the judge sees another difference than people do.
func contests() []contest {
	var list []contest
	for _, icc := range []float64{0, 0.1, 0.3} {
		w := contest{
			name:     fmt.Sprintf("the same 200 items labelled, 50 clusters, ICC %g", icc),
			clusters: 50, size: 20, icc: icc, right: [2]float64{0.7, 0.7},
			accepts: [2]float64{0.85, 0.95}, rejects: [2]float64{0.9, 0.7}, labels: 200,
		}
		list = append(list, w)
		w.name = fmt.Sprintf("200 labels of each, 50 clusters, ICC %g, 10 pp better", icc)
		w.apart, w.right = true, [2]float64{0.65, 0.75}
		list = append(list, w)
	}
	w := list[2]
	w.name, w.planned = "some 250 labels of each by a plan, 50 clusters, ICC 0.1", true
	return append(list, w, contest{
		name:     "60 labels of each, independent items, a judge that rarely errs",
		clusters: 600, size: 1, right: [2]float64{0.8, 0.8}, accepts: [2]float64{0.98, 0.99}, rejects: [2]float64{0.98, 0.8}, labels: 60,
	})
}

// correctedCells are differences that are corrected by labels of both systems.
func correctedCells() []cell {
	var cells []cell
	for _, w := range contests() {
		cells = append(cells, cell{
			name: "compare --labels, " + w.name, want: nominal, cost: 4,
			draw: func(rng *rand.Rand) outcome {
				return held(*w.draw(rng).Corrected.Estimate, w.right[1]-w.right[0], append(clusterWarnings, agreement.WarnFewLabels)...)
			},
		})
	}
	return cells
}

// The raw difference of systems that the judge treats differently is wrong, so that a test
// of the corrected one proves something.
func TestRawDifferenceMisses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	for _, w := range contests() {
		if w.size == 1 {
			continue // with so few errors the raw difference is nearly right
		}
		raw := cell{name: w.name, draw: func(rng *rand.Rand) outcome {
			return held(*w.draw(rng).Overall.Estimate, w.right[1]-w.right[0])
		}}.measure(16 / min(slower, 2))
		if raw.share() > 0.5 {
			t.Errorf("%s: the raw difference holds the truth in %.0f%% of draws, want fewer than half", w.name, 100*raw.share())
		}
	}
}
