package reports_test

import (
	"fmt"
	"strings"

	"deem"
	"deem/internal/reports"
	"deem/probe"
)

// The card of a judge that accepts everything.
func ExampleText() {
	it := deem.Item{ID: "q1", Question: "How long was the trip?", References: []string{"18 days"}}
	wrong := probe.New(it, probe.OffByOne, "", false, "19 days")
	b := probe.NewBuilder(probe.Head{Judge: "yes-man"})
	b.Add(deem.Record{Item: wrong.Item, Judge: "yes-man", Verdict: &deem.Verdict{Label: "yes", Score: 1}})

	var text strings.Builder
	if err := reports.ProbeText(&text, b.Card()); err != nil {
		fmt.Println(err)
		return
	}
	first, _, _ := strings.Cut(text.String(), "\n")
	fmt.Println(first)
	fmt.Println(strings.Contains(text.String(), "off-by-one  100.0%"))
	// Output:
	// Judge card: yes-man
	// true
}
