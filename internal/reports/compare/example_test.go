package compare_test

import (
	"fmt"
	"iter"

	"deem"
	"deem/internal/reports/compare"
)

// verdicts yields the records of a run, one for each letter: y for yes and n for no.
func verdicts(letters string) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		for i, letter := range letters {
			v := &deem.Verdict{Label: "no"}
			if letter == 'y' {
				v = &deem.Verdict{Label: "yes", Score: 1}
			}
			if !yield(deem.Record{Item: deem.Item{ID: fmt.Sprint("q", i)}, Position: i, Judge: "exact", Verdict: v}, nil) {
				return
			}
		}
	}
}

// Runs are joined by the ids of their items, and compared pair by pair.
func Example() {
	runs := []compare.Run{{Name: "before", Judge: "exact", Complete: true}, {Name: "now", Judge: "exact", Complete: true}}
	b := compare.New(runs, compare.Options{})
	for row, err := range compare.Join(verdicts("ynnnnnnnnnyy"), verdicts("nyyyyyyyyyyy")) {
		if err != nil {
			fmt.Println(err)
			return
		}
		b.Add(row)
	}
	c := b.Comparison()
	overall := c.Pairs[0].Overall
	fmt.Println("won", overall.Wins, "lost", overall.Losses, "tied", overall.Ties, overall.Outcome)
	// Output: won 9 lost 1 tied 2 better
}
