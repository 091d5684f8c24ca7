package ci_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	decimal = regexp.MustCompile(`\d[\d,]*\.\d+(?:%| pp)`)
	blocks  = regexp.MustCompile("(?s)\n *```.*?\n *```")
)

// TestNumbersInProse looks whether every percentage with decimals in a text stands where it
// can be checked: in an output on the page, which TestPages compares, in a table of the page,
// or on a page that the paragraph links to. testdata/numbers.txt lists the others, each with
// the place that gives it.
func TestNumbersInProse(t *testing.T) {
	listed := map[string]bool{} // whether an entry was needed
	for line := range strings.Lines(read(t, filepath.Join("internal", "ci", "testdata", "numbers.txt"))) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		entry, why, ok := strings.Cut(line, ": ")
		if !ok || why == "" || len(strings.Fields(entry)) < 2 {
			t.Errorf("numbers.txt: %q is not PAGE NUMBER: SOURCE", line)
		}
		listed[entry] = false
	}
	seen := 0
	for _, name := range pages(t) {
		if strings.HasPrefix(name, "docs/design/") {
			continue // They say what was true on a day.
		}
		text := read(t, name)
		for _, paragraph := range strings.Split(blocks.ReplaceAllString(text, ""), "\n\n") {
			if strings.HasPrefix(strings.TrimSpace(paragraph), "|") {
				continue
			}
			for _, number := range decimal.FindAllString(paragraph, -1) {
				seen++
				if entry := name + " " + strings.ReplaceAll(number, " ", ""); !checkable(t, name, text, paragraph, number) {
					if _, ok := listed[entry]; !ok {
						t.Errorf("%s: %s stands in no output, no table and on no linked page, and not in numbers.txt", name, number)
					}
					listed[entry] = true
				}
			}
		}
	}
	for entry, needed := range listed {
		if !needed {
			t.Errorf("numbers.txt: %s is not needed", entry)
		}
	}
	if seen < 30 {
		t.Errorf("%d numbers stand in texts: the test sees too little", seen)
	}
}

// checkable reports whether a number stands in a block or table of the page, or on a page
// that the paragraph links to.
func checkable(t *testing.T, name, text, paragraph, number string) bool {
	t.Helper()
	bare := regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(strings.TrimRight(number, "% p")) + `([^\d]|$)`)
	for _, block := range blocks.FindAllString(text, -1) {
		if bare.MatchString(block) {
			return true
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "|") && bare.MatchString(line) {
			return true
		}
	}
	for _, m := range link.FindAllStringSubmatch(paragraph, -1) {
		file, _, _ := strings.Cut(m[1], "#")
		other := filepath.Join(root, path.Join(path.Dir(name), file))
		if path.Ext(file) != ".md" {
			continue
		}
		if linked, err := os.ReadFile(other); err == nil && bare.Match(linked) {
			return true
		}
	}
	return false
}
