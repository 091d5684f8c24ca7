package sensitivity_test

import (
	"fmt"

	"deem"
	"deem/internal/reports/sensitivity"
)

// Two judges grade the same answers of one system.
func Example() {
	yes, no := &deem.Verdict{Label: "yes", Score: 1}, &deem.Verdict{Label: "no"}
	b := sensitivity.New([]sensitivity.Judge{{Name: "published"}, {Name: "match"}})
	part := b.System(sensitivity.System{Name: "memory", Items: 3})
	part.Add(deem.Item{ID: "q1"}, []*deem.Verdict{yes, yes})
	part.Add(deem.Item{ID: "q2"}, []*deem.Verdict{yes, no})
	part.Add(deem.Item{ID: "q3"}, []*deem.Verdict{no, no})
	s := b.Report().Systems[0]
	fmt.Println(s.Name, "judges differ on", s.Flips, "of", s.Judged)
	// Output: memory judges differ on 1 of 3
}
