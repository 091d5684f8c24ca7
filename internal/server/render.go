package server

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed templates/*.html
var templateFiles embed.FS

// A page is what a template shows.
type page struct {
	Template string // the name of a file in templates, without .html
	Title    string // of the window, before that of the site
	Section  string // which entry of the navigation is the current one
	Status   int    // 0 means 200
	Data     any    // {{.Data}} in the template

	// Refresh is after how many seconds the page is loaded again, 0 for never.
	Refresh int

	// Scripts are files in static that this page runs besides app.js.
	Scripts []string
}

// A view is what the layout shows: the page and what all pages have.
type view struct {
	page
	Site     string
	Version  string
	CSRF     string
	LoggedIn bool // there is a session to end
	HasQueue bool // runs can be left to workers
	Static   bool // the page is a file
}

// parseTemplates reads every template with the layout and the parts around it.
func (s *Server) parseTemplates() (map[string]*template.Template, error) {
	base, err := template.New("layout.html").Funcs(s.functions()).
		ParseFS(templateFiles, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		key := strings.TrimSuffix(path.Base(name), ".html")
		if key == "layout" || key == "parts" {
			continue
		}
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if pages[key], err = t.ParseFS(templateFiles, name); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// show makes a page and writes it.
func (s *Server) show(w http.ResponseWriter, r *http.Request, of pageFunc) error {
	p, err := of(r)
	if err != nil {
		return err
	}
	return s.render(w, r, p)
}

// render writes a page, all of it or nothing: a template that fails halfway leaves no
// half page behind.
func (s *Server) render(w http.ResponseWriter, r *http.Request, p page) error {
	t, ok := s.pages[p.Template]
	if !ok {
		return fmt.Errorf("there is no template %q", p.Template)
	}
	v := view{page: p, Site: s.title, Version: s.version, CSRF: s.guard.csrf(r), LoggedIn: s.guard.session(r) != "", HasQueue: s.queue != nil, Static: s.static}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("show %s: %w", p.Template, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store") // What was judged stays in the store.
	if p.Refresh > 0 {
		h.Set("Refresh", strconv.Itoa(p.Refresh))
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	// An address may hold any bytes, and the page says that it is UTF-8.
	_, err := w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
	if err != nil {
		s.log.Debug("write page", "path", r.URL.Path, "error", err)
	}
	return nil
}
