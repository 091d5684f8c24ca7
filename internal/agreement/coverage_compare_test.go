package agreement_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"deem/internal/reports/compare"
	"deem/report"
)

// addRow adds an item that each of several runs passes or not.
func addRow(b *compare.Builder, id, cluster, category string, passes ...bool) {
	row := compare.Row{ID: id}
	for _, yes := range passes {
		c := compare.Cell{Present: true, Judged: true, Weight: 1, Cluster: cluster, Category: category, Label: "no"}
		if yes {
			c.Label, c.Score = "yes", 1
		}
		row.Cells = append(row.Cells, c)
	}
	b.Add(row)
}

// runsCalled returns descriptions of n runs.
func runsCalled(n int) []compare.Run {
	runs := make([]compare.Run, n)
	for i := range runs {
		runs[i] = compare.Run{Name: "run " + strconv.Itoa(i), Run: strconv.Itoa(i), Complete: true}
	}
	return runs
}

// threeRuns returns a comparison of three equally good runs. Each is better in some
// clusters and worse in others, if items of a cluster correlate.
func threeRuns(rng *rand.Rand, clusters, size int, icc float64) compare.Comparison {
	b := compare.New(runsCalled(3), compare.Options{Seed: 1})
	shares := [3][]float64{}
	for j := range shares {
		shares[j] = clusterShares(rng, clusters, 0.7, icc)
	}
	for i := range clusters {
		for k := range size {
			addRow(b, fmt.Sprint(i, " ", k), fmt.Sprint(i), "",
				rng.Float64() < shares[0][i], rng.Float64() < shares[1][i], rng.Float64() < shares[2][i])
		}
	}
	return b.Comparison()
}

// allCells are tests of whether all of several runs are equally good, when they are.
func allCells() []cell {
	var cells []cell
	for _, icc := range []float64{0, 0.1, 0.3} {
		cells = append(cells, cell{
			name: fmt.Sprintf("compare, three runs, 20 clusters of 20, ICC %g", icc), want: alarms, cost: 4,
			draw: func(rng *rand.Rand) outcome {
				return outcome{hit: threeRuns(rng, 20, 20, icc).Ranking.Cochran.P < 0.05}
			},
		})
	}
	return cells
}

// savedCells are comparisons with a saved report of a system that is as good in all of
// its eight categories. A category that is called better or worse is a false alarm.
func savedCells() []cell {
	var cells []cell
	for _, icc := range []float64{0, 0.1} {
		cells = append(cells, cell{
			name: fmt.Sprintf("compare --baseline, eight categories, 30 clusters of 16, ICC %g", icc), want: alarms, cost: 4,
			draw: func(rng *rand.Rand) outcome {
				saved := report.New(report.Head{Run: "saved", Complete: true})
				b := compare.New(runsCalled(1), compare.Options{Seed: 1, Anyway: true})
				before, after := clusterShares(rng, 30, 0.7, icc), clusterShares(rng, 30, 0.7, icc)
				for i := range before {
					for k := range 16 {
						id, cluster, category := fmt.Sprint(i, " ", k), fmt.Sprint(i), fmt.Sprint("category ", k%8)
						saved.Add(record(id, cluster, category, rng.Float64() < before[i]))
						addRow(b, id, cluster, category, rng.Float64() < after[i])
					}
				}
				var file bytes.Buffer
				if err := saved.Report().JSON(&file); err != nil {
					panic(err)
				}
				base, err := compare.ReadBaseline(&file)
				if err != nil {
					panic(err)
				}
				c, err := b.Against(base)
				if err != nil {
					panic(err)
				}
				return outcome{hit: slices.ContainsFunc(c.Pairs[0].Categories, func(d compare.Difference) bool {
					return d.Outcome == compare.Better || d.Outcome == compare.Worse
				})}
			},
		})
	}
	return cells
}

// marginCells are comparisons of systems that differ by exactly the margin. One that is
// called equivalent is a false alarm.
func marginCells() []cell {
	var cells []cell
	for _, tt := range []struct {
		clusters, size int
		icc            float64
	}{{400, 1, 0}, {1000, 1, 0}, {20, 20, 0}, {30, 20, 0.1}, {60, 20, 0.1}, {100, 20, 0.1}} {
		cells = append(cells, cell{
			name: fmt.Sprintf("compare --margin 5pp, %d clusters of %d, ICC %g, 5 pp worse", tt.clusters, tt.size, tt.icc), want: alarms,
			draw: func(rng *rand.Rand) outcome {
				b := compare.New(runsCalled(2), compare.Options{Seed: 1, Margin: 0.05})
				// The share of items that only the first run passes; 5% only the second does.
				lost := clusterShares(rng, tt.clusters, 0.10, tt.icc)
				for i := range tt.clusters {
					for k := range tt.size {
						cluster := fmt.Sprint(i)
						if tt.size == 1 {
							cluster = ""
						}
						u := rng.Float64()
						first, second := u < lost[i], u >= lost[i] && u < lost[i]+0.05
						both := u > 0.4 && !first && !second
						addRow(b, fmt.Sprint(i, " ", k), cluster, "", first || both, second || both)
					}
				}
				e := b.Comparison().Pairs[0].Overall.Equivalence
				return outcome{hit: e.Equivalent, warned: slices.Contains(e.Interval.Warnings, compare.WarnOneSided)}
			},
		})
	}
	return cells
}
