package agreement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"deem/report"
)

// markCells are reports over categories that do not differ, some of them small. A mark is
// a false alarm.
func markCells() []cell {
	var cells []cell
	for _, tt := range []struct {
		name     string
		sizes    []int
		p        float64
		clusters int
	}{
		{"small categories", []int{200, 150, 100, 10, 6, 4, 3}, 0.9, 0},
		{"small categories, rare failures", []int{300, 12, 10, 8, 6, 5, 5, 4}, 0.97, 0},
		{"small categories in 20 clusters", []int{200, 150, 10, 6, 4, 3}, 0.9, 20},
		{"small categories in 30 clusters, rare failures", []int{300, 12, 10, 8, 6, 5, 5, 4}, 0.97, 30},
	} {
		cells = append(cells, cell{
			name: "report, " + tt.name, want: alarms,
			draw: func(rng *rand.Rand) outcome {
				b := report.New(report.Head{})
				shares := clusterShares(rng, max(tt.clusters, 1), tt.p, 0.1)
				for k, size := range tt.sizes {
					for i := range size {
						share, cluster := tt.p, ""
						if tt.clusters > 0 {
							at := rng.IntN(tt.clusters)
							share, cluster = shares[at], fmt.Sprint(at)
						}
						b.Add(record(fmt.Sprint(k, " ", i), cluster, fmt.Sprint("category ", k), rng.Float64() < share))
					}
				}
				return outcome{hit: slices.ContainsFunc(b.Report().Categories, report.Category.Differs)}
			},
		})
	}
	return cells
}
