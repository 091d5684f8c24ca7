package agreement_test

import (
	"fmt"
	"math/rand/v2"

	"deem"
	"deem/judge/cascade"
)

// cascadeCells are fits on items in clusters of which the large ones go wrong more often. The
// judge is wrong on 5.9% of all items however sure it is, so any promise of 5% is broken.
// Of small and large clusters alike it would be wrong on 3.8%.
func cascadeCells() []cell {
	return []cell{{
		name: "cascade fit, 300 clusters, large ones wrong more often: promise broken", want: alarms,
		draw: func(rng *rand.Rand) outcome {
			var items []cascade.Labelled
			for c := range 300 {
				size, wrong := 2, 0.005
				if c%2 == 0 {
					size, wrong = 10, 0.07
				}
				// The errors of a cluster come together: half of its items fail if any does.
				hard := rng.Float64() < 2*wrong
				for i := range size {
					right := !hard || rng.Float64() < 0.5
					sure := rng.Float64()
					v := &deem.Verdict{Label: "yes", Score: 1, Confidence: &sure}
					items = append(items, cascade.Labelled{ID: fmt.Sprint(rng.Uint64(), i), Cluster: fmt.Sprint(rng.Uint32(), c), Yes: right, Verdicts: []*deem.Verdict{v}})
					items[len(items)-1].Cluster = items[len(items)-1-i].Cluster
				}
			}
			_, err := cascade.Fit([]string{"cheap"}, items, 0.05, 0.05)
			return outcome{hit: err == nil}
		},
	}}
}
