package golden

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed left.txt
var leftFile string

// left says what is not compared on purpose, and why: by package and field, and under
// "metric" by the name of a metric that no package computes.
var left = parseLeft(leftFile)

// parseLeft parses lines such as "stat wilsoncc: why". It panics on any other line, because
// the file is part of the program.
func parseLeft(text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		what, why, _ := strings.Cut(line, ": ")
		where, name, ok := strings.Cut(what, " ")
		if !ok || name == "" || why == "" || all[where][name] != "" {
			panic(fmt.Sprintf("left.txt: %q is not WHERE NAME: WHY, or is there twice", line))
		}
		if all[where] == nil {
			all[where] = map[string]string{}
		}
		all[where][name] = why
	}
	return all
}
