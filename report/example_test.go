package report_test

import (
	"fmt"
	"os"

	"deem"
	"deem/report"
)

func ExampleBuilder() {
	b := report.New(report.Head{Judge: "exact", JudgeKind: report.KindRule, MaxUnjudged: report.DefaultMaxUnjudged, Complete: true})
	for i := range 40 {
		rec := deem.Record{Item: deem.Item{ID: fmt.Sprintf("q%d", i)}, Position: i, Judge: "exact"}
		if i == 3 {
			rec.Failure = deem.Failf(deem.Input, "no reference")
		} else {
			rec.Verdict = &deem.Verdict{Label: "equal", Score: 1}
		}
		b.Add(rec)
	}
	if err := b.Report().Text(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// run      complete
	// judge    exact, rule
	//          exact is a rule, not a model
	// records  40 items: 39 judged, 1 unjudged
	// counts   no categories; score over 39 judged, strict over all 40
	//
	// The headline is withheld: 1 of 40 items (2.5%) is unjudged, and at most 1% may be.
	//
	//           value [95%]
	// score     withheld            n=39  unjudged 1
	//   strict  97.5% [87.1, 99.6]  n=40  unjudged 1  failures counted as wrong
	//   band    97.5% to 100.0%     n=40  unjudged 1  from all failures wrong to all right
	//
	// unjudged items by kind
	//   input  1  q3
	//
	// labels   equal 39
}
