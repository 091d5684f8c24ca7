package stat_test

import (
	"fmt"

	"deem/stat"
)

func ExampleProportion() {
	est := stat.Proportion(20, 30)
	fmt.Printf("%.1f%% [%.1f, %.1f] n=%d\n", 100*est.Value, 100*est.Lo, 100*est.Hi, est.N)
	// Output: 66.7% [48.8, 80.8] n=30
}

func ExampleMeanIn() {
	var m stat.Moments
	for _, score := range []float64{0.9, 0.7, 1, 0.8, 0.6} {
		m.Add(score, 1)
	}
	est := stat.MeanIn(m, stat.DefaultLevel, stat.Unit)
	fmt.Printf("%.2f [%.2f, %.2f] n=%d by %s\n", est.Value, est.Lo, est.Hi, est.N, est.Method)
	// Output: 0.80 [0.60, 1.00] n=5 by t
}

func ExampleHistogram() {
	var h stat.Histogram
	for ms := range 1000 {
		h.Add(float64(ms))
	}
	fmt.Printf("median about %.0f\n", h.Quantile(0.5))
	// Output: median about 496
}
