package manual_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"deem/docs"
	"deem/internal/manual"
)

func ours(t *testing.T) *manual.Manual {
	t.Helper()
	document, err := os.ReadFile("../server/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	api, err := manual.APIPage(document)
	if err != nil {
		t.Fatal(err)
	}
	m, err := manual.New(docs.Files, map[string][]byte{"api-reference": api})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLinks looks whether every link of every rendered page leads to a page, an anchor or
// an image that exists.
func TestLinks(t *testing.T) {
	m := ours(t)
	link := regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	id := regexp.MustCompile(` id="([^"]*)"`)
	anchors := map[string]bool{}
	for _, name := range m.Names() {
		anchors[name+"#"] = true
		for _, a := range id.FindAllStringSubmatch(string(m.Page(name).HTML), -1) {
			if anchors[name+"#"+a[1]] {
				t.Errorf("%s has two anchors %s", name, a[1])
			}
			anchors[name+"#"+a[1]] = true
		}
	}
	seen := 0
	for _, name := range m.Names() {
		for _, l := range link.FindAllStringSubmatch(string(m.Page(name).HTML), -1) {
			if strings.Contains(l[1], "://") || strings.HasPrefix(l[1], "mailto:") {
				continue
			}
			seen++
			file, anchor, _ := strings.Cut(l[1], "#")
			if image, ok := strings.CutPrefix(file, "images/"); ok {
				if _, err := m.Image(image); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			to := name
			if file != "" {
				to = strings.TrimSuffix(path.Join(path.Dir(name), file), ".html")
			}
			if !anchors[to+"#"+anchor] {
				t.Errorf("%s: the link %s leads nowhere", name, l[1])
			}
		}
	}
	if seen < 300 {
		t.Errorf("%d links were followed: the test sees too little", seen)
	}
}

// TestMenu looks whether the menu has every page of the documentation.
func TestMenu(t *testing.T) {
	m := ours(t)
	listed := map[string]bool{"index": true}
	for _, s := range m.Menu {
		for _, l := range s.Pages {
			listed[l.Name] = true
		}
	}
	for _, name := range m.Names() {
		if !listed[name] {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
	if len(m.Menu) < 6 {
		t.Errorf("the menu has %d sections: %v", len(m.Menu), m.Menu)
	}
}

// TestRender looks at what pages lose and keep.
func TestRender(t *testing.T) {
	m, err := manual.New(fstest.MapFS{
		"README.md":     {Data: []byte("# Home\n\nAll.\n\n1. **First.** [one](one.md), [two](sub/two.md#a-b).\n")},
		"one.md":        {Data: []byte("# One\n\nAbout `one`.\n\n<!-- run -->\n```sh\ndeem <run>\n```\n\n## A, b!\n\nSee [code](../main.go), [two](sub/two.md#a-b) and [web](https://example.org).\n\n## A, b!\n")},
		"sub/two.md":    {Data: []byte("# Two\n\nBack to [one](../one.md) or [home](../README.md).\n\n## A & b\n\n## A b\n")},
		"sub/README.md": {Data: []byte("# Sub\n")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := string(m.Page("one").HTML)
	for _, want := range []string{`<h2 id="a-b">`, `<h2 id="a-b-1">`, `deem &lt;run&gt;`, `href="sub/two.html#a-b"`, `href="https://example.org"`, "See code,"} {
		if !strings.Contains(one, want) {
			t.Errorf("the page has no %s:\n%s", want, one)
		}
	}
	if strings.Contains(one, "run --") || strings.Contains(one, "<!--") || strings.Contains(one, "main.go") {
		t.Errorf("the page shows a comment or a link that leads nowhere:\n%s", one)
	}
	two := string(m.Page("sub/two").HTML)
	if !strings.Contains(two, `href="../one.html"`) || !strings.Contains(two, `href="../index.html"`) {
		t.Errorf("links upwards:\n%s", two)
	}
	if m.Page("sub/index") == nil || m.Page("") != m.Page("index") || m.Page("nothing") != nil {
		t.Error("pages by name")
	}
	if got := m.Page("one"); got.Title != "One" || got.About != "About one." || len(got.Parts) != 3 {
		t.Errorf("page = %+v", got)
	}
}

// TestSearchScript looks whether the index holds every page once and is a script that a page
// on a disk can load.
func TestSearchScript(t *testing.T) {
	script, err := ours(t).SearchScript()
	if err != nil {
		t.Fatal(err)
	}
	list, ok := bytes.CutPrefix(bytes.TrimSuffix(script, []byte(";\n")), []byte("window.deemPages = "))
	var entries []struct{ Page, Title, Part, Hash, Text string }
	if err := json.Unmarshal(list, &entries); err != nil || !ok {
		t.Fatal(err, ok)
	}
	found := false
	for _, e := range entries {
		found = found || e.Page == "compare.html" && strings.Contains(e.Text, "paired")
	}
	if !found || len(entries) < 300 {
		t.Errorf("%d entries, and the page about comparisons is found: %t", len(entries), found)
	}
}

// TestAPIPage looks whether the page has every operation and object of the document.
func TestAPIPage(t *testing.T) {
	text := string(ours(t).Page("api-reference").Markdown)
	for _, want := range []string{"### POST /api/v1/verdicts", "### GET /api/v1/runs", "### Verdict", "| field | type |", "| parameter | in |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestLLMs looks whether the list for programs names each page of the menu.
func TestLLMs(t *testing.T) {
	m := ours(t)
	text := string(m.LLMs())
	for _, s := range m.Menu {
		for _, l := range s.Pages {
			if !strings.Contains(text, "]("+l.Name+".html): ") {
				t.Errorf("llms.txt does not list %s", l.Name)
			}
		}
	}
}
