package web

import (
	"bytes"
	"context"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"deem/internal/manual"
	"deem/internal/server"
)

// NewDocs returns a server that shows the documentation and nothing else.
func NewDocs(docs *manual.Manual, version string) (*Server, error) {
	core, err := server.New(server.Options{Store: &chosenRuns{}, Version: version, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s := New(core, Options{Docs: docs})
	s.docsOnly = true
	return s, nil
}

// WriteDocs writes the documentation as static files into a folder, which it creates, and
// returns the number of files.
func WriteDocs(ctx context.Context, docs *manual.Manual, dir, version string) (int, error) {
	s, err := NewDocs(docs, version)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	s.static = true
	w := newSiteWriter(ctx, s, dir)
	w.want("/docs/index.html")
	w.want("/docs/llms.txt")
	return w.writeAll()
}

// A docsView is the data of a page of the documentation.
type docsView struct {
	*manual.Page
	Menu     []manual.Section
	Headings []manual.Part // the second level, for a long page
	Root     string        // the path to the first page
}

// docsRoutes answers with the pages, the images and the search index of the documentation.
func (s *Server) docsRoutes(docs *manual.Manual) []server.Route {
	if docs == nil {
		return nil
	}
	return []server.Route{
		{Pattern: "GET /docs", Handle: func(w http.ResponseWriter, r *http.Request) error {
			http.Redirect(w, r, "/docs/", http.StatusFound)
			return nil
		}},
		{Pattern: "GET /docs/{page...}", Handle: func(w http.ResponseWriter, r *http.Request) error {
			name := r.PathValue("page")
			if text, err := docsFile(docs, name); text != nil || err != nil {
				return serveDocsFile(w, r, text, err)
			}
			page := docs.Page(strings.TrimSuffix(name, ".html"))
			if page == nil || name != "" && path.Ext(name) != ".html" {
				return server.NotFound("the documentation has no page %s", name)
			}
			return s.render(w, r, docsPage(docs, page))
		}},
	}
}

// docsFile returns a file other than a page, or nil.
func docsFile(docs *manual.Manual, name string) ([]byte, error) {
	switch {
	case name == "search.js":
		return docs.SearchScript()
	case name == "llms.txt":
		return docs.LLMs(), nil
	case path.Dir(name) == "images":
		text, err := docs.Image(path.Base(name))
		if err != nil {
			return nil, server.NotFound("the documentation has no image %s", name)
		}
		return text, nil
	}
	return nil, nil
}

func serveDocsFile(w http.ResponseWriter, r *http.Request, text []byte, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaTypes[path.Ext(r.URL.Path)])
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
	return nil
}

func docsPage(docs *manual.Manual, p *manual.Page) page {
	v := docsView{Page: p, Menu: docs.Menu, Root: strings.Repeat("../", strings.Count(p.Name, "/"))}
	for _, part := range p.Parts {
		if part.Level == 2 {
			v.Headings = append(v.Headings, part)
		}
	}
	if len(v.Headings) < 3 {
		v.Headings = nil
	}
	// Wide tables scroll by themselves, so that the page does not.
	text := strings.ReplaceAll(string(p.HTML), "<table>", `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>`)
	text = strings.ReplaceAll(text, "</table>", "</table></div>")
	text = strings.ReplaceAll(text, "<pre>", `<pre tabindex="0">`)
	shown := *p
	shown.HTML = template.HTML(text) //nolint:gosec // The pages are ours.
	v.Page = &shown
	return page{Template: "docs", Title: p.Title, Section: "docs", Data: v, Scripts: []string{"docs.js"}, Styles: []string{"docs.css"}}
}
