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
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fenced  = regexp.MustCompile("(?s)\n *```.*?\n *```")
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// slugs returns the anchors of a page, as GitHub makes them from its headings.
func slugs(text string) map[string]bool {
	set := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		set[strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-")] = true
	}
	return set
}

// TestLinks looks whether every link within the repository leads somewhere.
func TestLinks(t *testing.T) {
	for _, name := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, name), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target, anchor, _ := strings.Cut(m[1], "#")
			file := name
			if target != "" {
				file = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
				continue
			}
			if anchor != "" && !slugs(read(t, file))[anchor] {
				t.Errorf("%s: %s has no heading #%s", name, file, anchor)
			}
		}
	}
}

// TestPaths looks whether the files and folders of the repository that a page names are there,
// so that the map of the code stays right when packages move.
func TestPaths(t *testing.T) {
	named := regexp.MustCompile("`((?:benchmark|bundle|cmd|deemtest|deploy|docs|examples|internal|judge|model|probe|report|scripts|stat|tools)/[\\w./*-]+)`")
	seen := 0
	for _, name := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, name), ""), -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			seen++
			if found, err := filepath.Glob(filepath.Join(root, m[1])); err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", name, m[1])
			}
		}
	}
	if seen < 40 {
		t.Errorf("%d paths are named: the test sees too little", seen)
	}
}

// TestNamedTests looks whether a test that a page names as its witness is in the file that
// it names.
func TestNamedTests(t *testing.T) {
	named := regexp.MustCompile(`\[((?:Test|Fuzz|Example)\w+)\]\(([^)]+\.go)\)`)
	seen := 0
	for _, name := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(read(t, name), -1) {
			seen++
			file := path.Join(path.Dir(name), m[2])
			if !strings.Contains(read(t, file), "func "+m[1]+"(") {
				t.Errorf("%s: there is no %s in %s", name, m[1], file)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d tests are named: the test sees too little", seen)
	}
}

// TestClaims looks whether the numbers that the README claims stand on the page that it
// names as their source.
func TestClaims(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| [^|]+ \| ([^|]+) \| \[[^\]]+\]\(([^)#]+)[^)]*\) \|$`)
	number := regexp.MustCompile(`\d[\d,.]*%?`)
	seen := 0
	for _, m := range row.FindAllStringSubmatch(read(t, "README.md"), -1) {
		for _, n := range number.FindAllString(m[1], -1) {
			seen++
			if !strings.Contains(read(t, m[2]), strings.TrimRight(n, ".,")) {
				t.Errorf("README.md claims %q, and %s does not say %s", m[1], m[2], n)
			}
		}
	}
	if seen < 8 {
		t.Errorf("%d numbers are claimed: the test sees too little", seen)
	}
}

// TestReach looks whether a reader who begins with the README and follows links comes to
// every page.
func TestReach(t *testing.T) {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.IsDir() {
			for _, page := range pages(t) { // a folder lists its pages
				if path.Dir(page) == name {
					visit(page)
				}
			}
			return
		}
		if path.Ext(name) != ".md" {
			return
		}
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target != "" && !strings.Contains(target, "://") {
				visit(path.Join(path.Dir(name), target))
			}
		}
	}
	visit("README.md")
	for _, name := range pages(t) {
		if !seen[name] {
			t.Errorf("no path of links leads from README.md to %s", name)
		}
	}
}

// TestContents looks whether the table of contents has every page.
func TestContents(t *testing.T) {
	contents := read(t, "docs/README.md")
	for _, name := range pages(t) {
		page, isDoc := strings.CutPrefix(name, "docs/")
		if !isDoc || page == "README.md" || strings.HasPrefix(page, "design/") {
			continue
		}
		if !strings.Contains(contents, "]("+page+")") {
			t.Errorf("docs/README.md does not lead to %s", page)
		}
	}
}

// TestFileNames looks whether a page shows the name of each file that a reader has to write:
// the comment that names it is not visible.
func TestFileNames(t *testing.T) {
	hidden := regexp.MustCompile(`(?m)^<!-- .* -->$`)
	seen := 0
	for _, name := range pages(t) {
		text := read(t, name)
		page, _ := Parse(name, text)
		for _, b := range page.Blocks {
			if b.Kind != File {
				continue
			}
			seen++
			if !strings.Contains(hidden.ReplaceAllString(text, ""), b.Name) {
				t.Errorf("%s:%d: no reader learns that the file is called %s", name, b.Line, b.Name)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d files are written: the test sees too little", seen)
	}
}

// TestBookHasCommands looks whether the book tells of every command.
func TestBookHasCommands(t *testing.T) {
	var book strings.Builder
	for _, name := range pages(t) {
		book.WriteString(read(t, name))
	}
	for _, command := range commandNames() {
		if !strings.Contains(book.String(), "deem "+command) {
			t.Errorf("no document tells of deem %s", command)
		}
	}
}
