package docs_test

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
