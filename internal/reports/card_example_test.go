package reports_test

import (
	"fmt"

	"deem"
	"deem/internal/reports"
	"deem/judge"
	"deem/report"
)

// The card of a report identifies the judge, which shows whether two scores are comparable.
func ExampleNew() {
	b := report.New(report.Head{Judge: "match", JudgeKind: judge.KindRule, JudgeHash: "c91d86c92816", Dataset: "answers.jsonl", Items: 2, Complete: true})
	for i, label := range []string{"correct", "incorrect"} {
		b.Add(deem.Record{Item: deem.Item{ID: fmt.Sprint("q", i)}, Position: i, Judge: "match", Verdict: &deem.Verdict{Label: label, Score: float64(1 - i)}})
	}
	c := reports.NewCard(b.Report())
	fmt.Println(c.Version, c.Judge, c.JudgeHash, "judged:", c.Judged, "of", c.Items)
	// Output: deem.card/1 match c91d86c92816 judged: 2 of 2
}
