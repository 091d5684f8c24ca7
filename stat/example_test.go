package stat_test

import (
	"fmt"

	"deem/stat"
)

func ExampleProportion() {
	est := stat.Proportion(20, 30, stat.DefaultLevel)
	fmt.Printf("%.1f%% [%.1f, %.1f] n=%d\n", 100*est.Value, 100*est.Lo, 100*est.Hi, est.N)
	// Output: 66.7% [48.8, 80.8] n=30
}

func ExampleMean() {
	var m stat.Moments
	for _, score := range []float64{0.9, 0.7, 1, 0.8, 0.6} {
		m.Add(score, 1)
	}
	est := stat.Mean(m, stat.DefaultLevel, stat.Unit)
	fmt.Printf("%.2f [%.2f, %.2f] n=%d by %s\n", est.Value, est.Lo, est.Hi, est.N, est.Method)
	// Output: 0.80 [0.56, 0.93] n=5 by t
}

// Ten conversations with ten questions each say less than a hundred questions.
func ExampleClustered() {
	var c stat.Clustered
	for conversation := range 10 {
		for question := range 10 {
			right := 0.0
			if question < conversation { // some conversations are harder
				right = 1
			}
			c.Add(fmt.Sprint("conversation ", conversation), right, 1)
		}
	}
	est, naive := c.Mean(stat.DefaultLevel, stat.Unit), stat.Proportion(45, 100, stat.DefaultLevel)
	fmt.Printf("%.2f [%.2f, %.2f], not [%.2f, %.2f]\n", est.Value, est.Lo, est.Hi, naive.Lo, naive.Hi)
	fmt.Println(est.Warnings[0])
	// Output:
	// 0.45 [0.26, 0.66], not [0.36, 0.55]
	// fewer than 30 clusters: the interval may be too narrow where a few of them hold most failures
}

// Of 200 items, 30 are right in the new version only and 14 in the old one only.
func ExamplePairedProportions() {
	est, test := stat.PairedProportions(30, 14, 200, stat.DefaultLevel), stat.McNemar(30, 14)
	fmt.Printf("%+.3f [%+.3f, %+.3f] p=%.3f\n", est.Value, est.Lo, est.Hi, test.P)
	// Output: +0.080 [+0.016, +0.146] p=0.023
}

func ExampleHolm() {
	fmt.Printf("%.3f\n", stat.Holm([]float64{0.04, 0.01, 0.03}))
	// Output: [0.060 0.030 0.060]
}

// The smallest difference that 626 items can show when a fifth of the verdicts differ.
func ExampleMinDetectablePaired() {
	fmt.Printf("%.3f\n", stat.MinDetectablePaired(626, 0.2, stat.DefaultLevel, stat.DefaultPower))
	// Output: 0.050
}
