// Package manual renders the documentation as HTML pages with a menu and a search index.
//
// The page README.md of the documentation is also its menu: the menu has the sections and
// links of that page, in its order. Links between pages are relative, and a page NAME.md
// becomes NAME.html, so the same pages are served by a server and opened from a disk.
package manual

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// A Manual is the rendered documentation.
type Manual struct {
	Menu  []Section
	pages map[string]*Page
	files fs.FS
}

// A Section is a part of the menu.
type Section struct {
	Title string
	Pages []Link
}

// A Link is an entry of the menu.
type Link struct {
	Name  string // of the page
	Title string
}

// A Page is a rendered page.
type Page struct {
	Name     string // its path without .html, for example "benchmarks/locomo"
	Title    string
	About    string // its first paragraph, as text
	HTML     template.HTML
	Markdown []byte
	Parts    []Part // its headings with the text below them, for the search
}

// A Part is a heading of a page and the text below it.
type Part struct {
	Anchor string // "" for the text before the first heading below the title
	Title  string
	Level  int
	Text   string
}

// index is the page with the menu. Its HTML is at index.html.
const index = "README"

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))

// New renders every Markdown file of a file system. extra holds further pages by name, such
// as one that a program has made, as Markdown; they are the last section of the menu.
func New(files fs.FS, extra map[string][]byte) (*Manual, error) {
	sources := maps.Clone(extra)
	if sources == nil {
		sources = map[string][]byte{}
	}
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		if page, ok := strings.CutSuffix(name, ".md"); ok && err == nil {
			sources[page], err = fs.ReadFile(files, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if sources[index] == nil {
		return nil, errors.New("the documentation has no " + index + ".md")
	}
	m := &Manual{pages: map[string]*Page{}, files: files}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if m.pages[pageName(name)], err = render(name, sources[name], sources); err != nil {
			return nil, err
		}
	}
	m.Menu = m.menu(sources[index])
	if len(extra) > 0 {
		m.Menu = append(m.Menu, Section{Title: "Reference"})
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		last := &m.Menu[len(m.Menu)-1]
		last.Pages = append(last.Pages, Link{Name: name, Title: m.pages[name].Title})
	}
	return m, nil
}

// pageName returns the name of the page of a Markdown file: a README is the index of its
// folder.
func pageName(file string) string {
	if path.Base(file) == index {
		return path.Join(path.Dir(file), "index")
	}
	return file
}

// Names returns the names of all pages, those of the menu first and in its order.
func (m *Manual) Names() []string {
	names := []string{"index"}
	for _, s := range m.Menu {
		for _, l := range s.Pages {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.pages)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Page returns a page by its name, or nil.
func (m *Manual) Page(name string) *Page {
	return m.pages[cmp.Or(name, "index")]
}

// Image returns an image that pages show.
func (m *Manual) Image(name string) ([]byte, error) {
	return fs.ReadFile(m.files, path.Join("images", name))
}

// render renders a page. all has the pages that it may link to.
func render(name string, source []byte, all map[string][]byte) (*Page, error) {
	context := parser.NewContext(parser.WithIDs(&slugs{seen: map[string]int{}}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	nameHeadings(tree, source, context.IDs())
	adapt(tree, name, all)
	p := &Page{Name: pageName(name), Markdown: source, Parts: parts(tree, source)}
	p.Title, p.About = p.Parts[0].Title, firstParagraph(tree, source)
	if p.Title == "" {
		return nil, fmt.Errorf("%s.md: the page has no title", name)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil {
		return nil, fmt.Errorf("%s.md: %w", name, err)
	}
	p.HTML = template.HTML(b.String()) //nolint:gosec // Our own pages; goldmark leaves out raw HTML.
	return p, nil
}

// adapt removes the comments for tests, and makes links lead to rendered pages. A link to a
// file that is not part of the documentation becomes plain text.
func adapt(tree ast.Node, name string, all map[string][]byte) {
	var drop []ast.Node
	walk(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			drop = append(drop, n)
		case *ast.Link:
			if to, ok := target(string(n.Destination), name, all); ok {
				n.Destination = []byte(to)
			} else {
				drop = append(drop, n)
			}
		}
	})
	for _, n := range drop {
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, child)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// target returns where a link of a page leads to once pages are rendered.
func target(link, name string, all map[string][]byte) (string, bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") {
		return link, true
	}
	file, anchor, _ := strings.Cut(link, "#")
	page, ok := strings.CutSuffix(path.Join(path.Dir(name), file), ".md")
	if _, exists := all[page]; !ok || !exists {
		return "", false
	}
	to := strings.TrimSuffix(file, path.Base(file)) + path.Base(pageName(page)) + ".html"
	if anchor != "" {
		to += "#" + anchor
	}
	return to, true
}

// menu reads the menu from the page README: each list item or paragraph that begins with
// bold text is a section, and its links are pages.
func (m *Manual) menu(source []byte) []Section {
	tree := markdown.Parser().Parse(text.NewReader(source))
	var menu []Section
	walk(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Emphasis:
			if n.Level == 2 && n.PreviousSibling() == nil {
				menu = append(menu, Section{Title: strings.TrimRight(plain(n, source), ".")})
			}
		case *ast.Link:
			file, anchor, _ := strings.Cut(string(n.Destination), "#")
			p := m.pages[pageName(strings.TrimSuffix(file, ".md"))]
			if p != nil && anchor == "" && len(menu) > 0 {
				last := &menu[len(menu)-1]
				last.Pages = append(last.Pages, Link{Name: p.Name, Title: p.Title})
			}
		}
	})
	return slices.DeleteFunc(menu, func(s Section) bool { return len(s.Pages) == 0 })
}

// An entry is a part of a page in the search index.
type entry struct {
	Page  string `json:"page"` // its file
	Title string `json:"title"`
	Part  string `json:"part,omitempty"`
	Hash  string `json:"hash,omitempty"`
	Text  string `json:"text"`
}

// SearchScript returns a script that sets the search index. It is a script, since a page that
// is opened from a disk may load scripts but no data.
func (m *Manual) SearchScript() ([]byte, error) {
	var entries []entry
	for _, name := range m.Names() {
		p := m.pages[name]
		for i, part := range p.Parts {
			e := entry{Page: p.Name + ".html", Title: p.Title, Text: part.Text}
			if i > 0 {
				e.Part, e.Hash = part.Title, part.Anchor
			}
			entries = append(entries, e)
		}
	}
	list, err := json.Marshal(entries)
	return slices.Concat([]byte("window.deemPages = "), list, []byte(";\n")), err
}

// LLMs returns the list of pages in the format of llms.txt, for programs that read
// documentation: the name of each page and what it is about.
func (m *Manual) LLMs() []byte {
	var b bytes.Buffer
	home := m.pages["index"]
	fmt.Fprintf(&b, "# %s\n\n> %s\n", "deem", "An LLM-as-judge evaluation tool for AI memory and long-context question answering: "+
		"it grades a system's answers, reports a score with a confidence interval, and measures how far the judge can be trusted.")
	fmt.Fprintf(&b, "\n%s\n", home.About)
	for _, s := range m.Menu {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Title)
		for _, l := range s.Pages {
			fmt.Fprintf(&b, "- [%s](%s.html): %s\n", l.Title, l.Name, m.pages[l.Name].About)
		}
	}
	return b.Bytes()
}
