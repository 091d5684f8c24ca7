package reports_test

import (
	"fmt"
	"strings"

	"deem/internal/probe"
	"deem/internal/reports"
)

// The card of a judge that accepts everything.
func ExampleText() {
	card := cardOf(probe.Head{Judge: "yes-man"}, record("off-by-one", "", 1, 0, "yes"))

	var text strings.Builder
	if err := reports.ProbeText(&text, card); err != nil {
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
