package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"deem"
	"deem/report"
)

// A looked is what became of a run that is looked at after every item.
type looked struct {
	stopped bool
	items   int // that it took
	report  report.Report
}

// runUntil adds records in order to the report of a run with a rule, as "deem run" does,
// until the rule holds or there are no more.
func runUntil(rule report.Until, records []deem.Record) looked {
	b := report.New(report.Head{Items: len(records), Until: &rule, Complete: true})
	for i, rec := range records {
		rec.Position = i
		b.Add(rec)
		if b.Stopped() {
			break
		}
	}
	r := b.Report()
	return looked{stopped: r.Stopped.Holds, items: r.Stopped.Items, report: r}
}

// within returns the rule that stops at ±w.
func within(w, largest float64) report.Until {
	return report.Until{Rule: "±", Within: w, Aim: w, Largest: largest}
}

// never returns a rule that holds at no look, with bets that aim at a distance.
func never(aim float64) report.Until {
	return report.Until{Rule: "never", Within: 1e-9, Aim: aim, Largest: 1}
}

// missed returns whether the interval of the run leaves out the truth, which is then so
// for good: every interval lies in the one before.
func (l looked) missed(truth float64) outcome {
	return outcome{hit: l.report.Metrics[0].Judged.LeavesOut(truth)}
}

// untilCells are runs that are looked at after every item. A miss is an interval that
// left out the truth at any look up to the last.
func untilCells() []cell {
	var cells []cell
	for _, p := range []float64{0.5, 0.8, 0.95} {
		cells = append(cells, cell{
			name: fmt.Sprintf("run --until ±5pp, 1,000 items, share %g", p), want: alarms, cost: 2,
			draw: func(rng *rand.Rand) outcome {
				return runUntil(within(0.05, 1), shares(rng, 1000, p, p).own).missed(p)
			},
		}, cell{
			name: fmt.Sprintf("run --until with a rule that never holds, 1,000 items, share %g", p), want: alarms, cost: 2,
			draw: func(rng *rand.Rand) outcome {
				return runUntil(never(0.05), shares(rng, 1000, p, p).own).missed(p)
			},
		})
	}
	cells = append(cells, cell{
		name: "run --until ±15pp, 100 clusters of 1 to 19, larger ones worse, ICC 0.1", want: alarms, cost: 2,
		draw: func(rng *rand.Rand) outcome {
			records, truth := clusteredRun(rng, 100)
			return runUntil(within(0.15, 19), records).missed(truth)
		},
	}, cell{
		name: "run --until ±5pp, 1,000 items, share 0.9, one in fifty unjudged", want: alarms, cost: 2,
		draw: func(rng *rand.Rand) outcome {
			// Items that the judge finds wrong are unjudged twice as often as others.
			records := shares(rng, 1000, 0.9, 0.9).own
			for i := range records {
				if wrong := records[i].Verdict.Score == 0; rng.Float64() < 0.018 || wrong && rng.Float64() < 0.018 {
					records[i].Verdict, records[i].Failure = nil, deem.Failf(deem.Refused, "made up")
				}
			}
			b := report.New(report.Head{Items: 1000, Until: new(within(0.05, 1)), Complete: true, MaxUnjudged: new(1.0)})
			for i, rec := range records {
				rec.Position = i
				if b.Add(rec); b.Stopped() {
					break
				}
			}
			return held(*b.Report().Metrics[0].Judged, 0.9).not()
		},
	})
	for _, p := range []float64{0.5, 0.8, 0.95} {
		cells = append(cells, cell{
			name: fmt.Sprintf("run --until 'better than RUN', 1,000 items, both have share %g", p), want: alarms, cost: 2,
			draw: func(rng *rand.Rand) outcome {
				s := shares(rng, 1000, p, p)
				return outcome{hit: runUntil(against(s.other), s.own).stopped}
			},
		})
	}
	return cells
}

// not returns the outcome with misses as hits.
func (o outcome) not() outcome {
	o.hit = !o.hit
	return o
}

// against returns the rule that stops when a run is known to be better or worse than one
// with the given results.
func against(base []*float64) report.Until {
	return report.Until{Rule: "better than another", Against: "another", Largest: 1, Base: base}
}

// A twoRuns are the records of a run, and the results of another over the same items.
type twoRuns struct {
	own   []deem.Record
	other []*float64
}

// shares draws two runs over n items that share half of what makes an item hard.
func shares(rng *rand.Rand, n int, own, other float64) twoRuns {
	var r twoRuns
	for i := range n {
		u, v := rng.Float64(), rng.Float64()
		if rng.Float64() < 0.5 {
			v = u
		}
		r.own = append(r.own, record(fmt.Sprint(i), "", "", u < own))
		x := 0.0
		if v < other {
			x = 1
		}
		r.other = append(r.other, &x)
	}
	return r
}

// clusteredRun draws n clusters of 1 to 19 items, whose share falls from 0.9 to 0.5 with
// their size, and returns the share of the items of all such clusters.
func clusteredRun(rng *rand.Rand, n int) (records []deem.Record, truth float64) {
	share := func(size int) float64 { return 0.9 - 0.4*float64(size)/19 }
	var right, all float64
	for size := 1; size < 20; size++ {
		right, all = right+share(size)*float64(size), all+float64(size)
	}
	for i := range n {
		size := 1 + rng.IntN(19)
		p := clusterShares(rng, 1, share(size), 0.1)[0]
		for j := range size {
			records = append(records, record(fmt.Sprint(i, " ", j), fmt.Sprint(i), "", rng.Float64() < p))
		}
	}
	return records, right / all
}

// At most one run in twenty that is looked at after every item stops falsely: with an
// interval that leaves out the truth, or by calling one of two equally good runs better.
// This is the promise of the confidence sequence, measured on the code that stops a run:
// 2,000 times by "make coverage", and fewer times, with room for chance, by "go test".
func TestUntilStopsFalsely(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	runs, most := 300/slower, 0.05
	if os.Getenv("COVERAGE") != "" {
		runs = 2000
	} else {
		most += 3 * math.Sqrt(0.05*0.95/float64(runs)) // three standard errors of the simulation
	}
	for _, c := range []struct {
		name  string
		false func(*rand.Rand) bool
	}{
		{"±5pp", func(rng *rand.Rand) bool {
			return runUntil(within(0.05, 1), shares(rng, 600, 0.8, 0).own).missed(0.8).hit
		}},
		{"a rule that never holds", func(rng *rand.Rand) bool {
			return runUntil(never(0.05), shares(rng, 500, 0.8, 0).own).missed(0.8).hit
		}},
		{"better than an equal", func(rng *rand.Rand) bool {
			s := shares(rng, 400, 0.8, 0.8)
			return runUntil(against(s.other), s.own).stopped
		}},
		{"clusters", func(rng *rand.Rand) bool {
			records, truth := clusteredRun(rng, 40)
			return runUntil(within(0.15, 19), records).missed(truth).hit
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng, n := rand.New(rand.NewPCG(21, 3)), 0
			for range runs {
				if c.false(rng) {
					n++
				}
			}
			share := float64(n) / float64(runs)
			t.Logf("%d of %d runs stopped falsely (%.1f%%)", n, runs, 100*share)
			if share > most {
				t.Errorf("%d of %d runs stopped falsely, want at most %.1f%%", n, runs, 100*most)
			}
		})
	}
}
