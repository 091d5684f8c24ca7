package agreement_test

import (
	"fmt"

	"deem/internal/agreement"
	"deem/stat"
)

// A judge accepted 2,000 of 3,000 answers. On 200 others that people labelled too, it
// accepted 15 of 80 wrong ones and rejected 6 of 120 right ones.
func ExamplePredict() {
	labelled := agreement.Confusion{TP: 114, FN: 6, FP: 15, TN: 65}
	raw := stat.Proportion(2000, 3000, stat.DefaultLevel)
	ppi := agreement.Predict(predicted(labelled, 2000, 3000), 0.95)
	fmt.Printf("the judge says %.1f%% [%.1f, %.1f]\n", 100*raw.Value, 100*raw.Lo, 100*raw.Hi)
	fmt.Printf("people would say %.1f%% [%.1f, %.1f]\n", 100*ppi.Value, 100*ppi.Lo, 100*ppi.Hi)
	more, _ := ppi.More(0.06)
	fmt.Printf("%d more labels would make it 6 points wide\n", more)
	// Output:
	// the judge says 66.7% [65.0, 68.3]
	// people would say 61.6% [57.0, 66.1]
	// 326 more labels would make it 6 points wide
}

func ExampleConfusion() {
	c := agreement.Confusion{TP: 114, FN: 6, FP: 15, TN: 65}
	fmt.Printf("accuracy %.3f kappa %.3f\n", c.Accuracy(0.95).Value, c.Kappa(0.95).Value)
	accept := stat.Proportion(c.FP, c.FP+c.TN, stat.DefaultLevel)
	fmt.Printf("accepts %.1f%% [%.1f, %.1f] of wrong answers, n=%d\n", 100*accept.Value, 100*accept.Lo, 100*accept.Hi, accept.N)
	// Output:
	// accuracy 0.895 kappa 0.777
	// accepts 18.8% [11.7, 28.7] of wrong answers, n=80
}

func ExampleRoganGladenIn() {
	est := agreement.RoganGladenIn(agreement.Design{}, 2000, 3000, agreement.Confusion{TP: 114, FN: 6, FP: 15, TN: 65}, 0.95)
	fmt.Printf("%.1f%% [%.1f, %.1f] by %s\n", 100*est.Value, 100*est.Lo, 100*est.Hi, est.Method)
	// Output:
	// 62.8% [56.8, 68.4] by lang-reiczigel
}
