package report_test

import (
	"fmt"
	"os"

	"deem"
	"deem/judge"
	"deem/report"
)

func ExampleBuilder() {
	b := report.New(report.Head{Judge: "exact", JudgeKind: judge.KindRule, Complete: true})
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
	// judge exact · 40 items
	//
	// score   withheld            39 judged, 1 unjudged (input: q3)
	// strict  97.5% [87.1, 99.6]  unjudged items counted as wrong
	// band    97.5% to 100.0%     with all unjudged items wrong, or all right
	// ! The score is withheld: 1 of 40 items (2.5%) is unjudged, and at most 1% may
	//   be.
	//
	// exact is a rule, not a model
}
