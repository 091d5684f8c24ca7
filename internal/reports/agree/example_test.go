package agree_test

import (
	"fmt"

	"deem"
	"deem/internal/reports/agree"
)

// A lenient judge is compared with people on 100 of 400 items, and its score is corrected.
func Example() {
	b := agree.New(agree.Options{Judge: agree.Party{Judge: "lenient"}, Truth: agree.Party{Judge: "labels.csv"}, People: true, Items: 400})
	for i := range 400 {
		right := i%10 < 6            // what people would say
		accepts := right || i%10 < 8 // the judge accepts two of four wrong answers
		v := &deem.Verdict{Label: "no"}
		if accepts {
			v = &deem.Verdict{Label: "yes", Score: 1}
		}
		p := agree.Pair{Item: deem.Item{ID: fmt.Sprint("q", i)}, Position: i, Verdict: v}
		if i < 100 {
			p.Truth = &agree.Truth{Yes: right}
			if right {
				p.Truth.Score = 1
			}
		}
		b.Add(p)
	}
	c := b.Corrected()
	fmt.Printf("raw %.2f, corrected %.2f\n", c.Raw.Value, c.Quoted().Value)
	// Output: raw 0.80, corrected 0.60
}
