package agreement_test

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"deem"
	"deem/internal/reports/compare"
	"deem/report"
)

// A noisyRun draws runs of a judge that is asked several times about each item, and does not
// always say the same. The chance of a yes varies from item to item, and from cluster to
// cluster.
type noisyRun struct {
	clusters, size, trials int
	p                      float64 // the share of yes in all items and trials
	icc                    float64 // the correlation of items of a cluster
	judge                  float64 // 0: trials of an item always agree; 1: they do not depend on the item
}

func (n noisyRun) String() string {
	return fmt.Sprintf("%d clusters of %d, ICC %g, %d trials, judge noise %g, share %g", n.clusters, n.size, n.icc, n.trials, n.judge, n.p)
}

// records returns the records of one run, the trials of an item next to each other.
func (n noisyRun) records(rng *rand.Rand) []deem.Record {
	var recs []deem.Record
	for c, share := range clusterShares(rng, n.clusters, n.p, n.icc) {
		for range n.size {
			chance := share
			if 0 < share && share < 1 && n.judge < 1 {
				chance = 0
				if n.judge > 0 {
					chance = distuv.Beta{Alpha: share * n.judge / (1 - n.judge), Beta: (1 - share) * n.judge / (1 - n.judge), Src: rng}.Rand()
				} else if rng.Float64() < share {
					chance = 1
				}
			}
			cluster := ""
			if n.size > 1 {
				cluster = fmt.Sprint(c)
			}
			position := len(recs) / n.trials
			for trial := range n.trials {
				rec := record(fmt.Sprint(position), cluster, "", rng.Float64() < chance)
				rec.Position, rec.Trial = position, trial
				recs = append(recs, rec)
			}
		}
	}
	return recs
}

// trialCells are the headline of a report over items that were judged several times, and
// the difference of two such runs.
func trialCells() []cell {
	var cells []cell
	for _, n := range []noisyRun{
		{200, 1, 3, 0.8, 0, 0.1},
		{200, 1, 3, 0.8, 0, 0.5},
		{200, 1, 3, 0.95, 0, 0.3},
		{60, 1, 5, 0.5, 0, 0.5},
		{200, 1, 2, 0.8, 0, 1},
		{30, 20, 3, 0.8, 0.05, 0.3},
		{30, 20, 3, 0.8, 0.3, 0.3},
		{50, 10, 3, 0.5, 0.1, 0.6},
	} {
		cells = append(cells, cell{name: "report, " + n.String(), want: nominal, draw: func(rng *rand.Rand) outcome {
			b := report.New(report.Head{Trials: n.trials})
			for _, rec := range n.records(rng) {
				b.Add(rec)
			}
			return held(*b.Report().Metrics[0].Judged, n.p, clusterWarnings...)
		}}, cell{name: "compare, two runs, " + n.String(), want: nominal, cost: 2, draw: func(rng *rand.Rand) outcome {
			b := compare.New(runsCalled(2), compare.Options{Seed: 1})
			one := n.records(rng)
			// The other run is 5 pp worse in every trial of every item.
			two := n.records(rng)
			worse := n.p * 0.05
			for i := range two {
				if two[i].Verdict.Score == 1 && rng.Float64() < 0.05 {
					two[i].Verdict = &deem.Verdict{Label: "no"}
				}
			}
			for row, err := range compare.Join(every(one), every(two)) {
				if err != nil {
					panic(err)
				}
				b.Add(row)
			}
			return held(*b.Comparison().Pairs[0].Overall.Estimate, -worse, clusterWarnings...)
		}})
	}
	return cells
}

func every(recs []deem.Record) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for _, rec := range recs {
			if !yield(rec, nil) {
				return
			}
		}
	}
}
