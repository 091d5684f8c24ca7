package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"deem/internal/doc"
	"deem/internal/server"
	"deem/internal/store"
)

//go:embed templates/*.html
var templateFiles embed.FS

// A page is a template and its data.
type page struct {
	Template string // the name of a file in templates, without .html
	Title    string // of the window, followed by the title of the site
	Section  string // the current entry of the navigation
	Status   int    // 0 means 200
	Data     any    // {{.Data}} in the template

	// Refresh is the number of seconds after which the page is reloaded, 0 for never.
	Refresh int

	// Scripts are files in static that this page runs in addition to app.js.
	Scripts []string

	// Styles are files in static that this page uses in addition to those of all pages.
	Styles []string
}

// A view is the data of the layout: the page and what all pages have in common.
type view struct {
	page
	Site     string
	Version  string
	CSRF     string
	LoggedIn bool // there is a session, which can be logged out
	HasQueue bool // workers can judge runs
	HasDocs  bool // the server shows the documentation
	DocsOnly bool // and nothing else
	Static   bool // the page is written to a file
}

type pageFunc func(r *http.Request) (page, error)

func (s *Server) show(of pageFunc) server.HandleFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := of(r)
		if err != nil {
			return err
		}
		return s.render(w, r, p)
	}
}

// showRun returns the handler of a page about a run.
func (s *Server) showRun(of func(*http.Request, store.Run) (page, error)) server.HandleFunc {
	return s.OfRun(func(w http.ResponseWriter, r *http.Request, run store.Run) error {
		return s.show(func(r *http.Request) (page, error) { return of(r, run) })(w, r)
	})
}

// render writes a page. It is buffered, so that nothing is written if the template fails.
func (s *Server) render(w http.ResponseWriter, r *http.Request, p page) error {
	t, ok := s.pages[p.Template]
	if !ok {
		return fmt.Errorf("there is no template %q", p.Template)
	}
	v := view{page: p, Site: s.title, Version: s.Version, CSRF: s.Guard.CSRF(r), LoggedIn: s.Guard.Session(r) != "", HasQueue: s.queue != nil, HasDocs: s.docs, DocsOnly: s.docsOnly, Static: s.static}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("show %s: %w", p.Template, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store") // Judged texts must not be cached outside the store.
	if p.Refresh > 0 {
		h.Set("Refresh", strconv.Itoa(p.Refresh))
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	// An address may contain any bytes, but the page is declared as UTF-8.
	_, err := w.Write(bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")))
	if err != nil {
		s.Logger.Debug("write page", "path", r.URL.Path, "error", err)
	}
	return nil
}

// A pager links the pages of a list of known length.
type pager struct {
	Page, Pages int
	Prev, Next  string // paths, "" for none
}

// newPager returns the pager at a page. A page out of range is clamped.
func newPager(page, items, perPage int, link func(page int) string) pager {
	p := pager{Pages: max(1, (items+perPage-1)/perPage)}
	p.Page = min(max(page, 1), p.Pages)
	if p.Page > 1 {
		p.Prev = link(p.Page - 1)
	}
	if p.Page < p.Pages {
		p.Next = link(p.Page + 1)
	}
	return p
}

func (p pager) span(items, perPage int) (from, to int) {
	from = min((p.Page-1)*perPage, items)
	return from, min(from+perPage, items)
}

//go:embed static
var staticFiles embed.FS

// assets are the styles, scripts and images of the pages. Their names contain a hash of
// their content, so that browsers may cache them forever and never use an old version.
type assets struct {
	names map[string]string // "app.css" to "app.1f0c9a3b7d24.css"
	files map[string][]byte // by the name with the hash
}

// mediaTypes are the media types of our files. Those of package mime depend on the machine.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
	".txt": "text/plain; charset=utf-8",
}

func newAssets() *assets {
	a := &assets{names: map[string]string{}, files: map[string][]byte{}}
	entries, _ := staticFiles.ReadDir("static") //nolint:errcheck // Embedded files can be read.
	for _, e := range entries {
		content, _ := staticFiles.ReadFile(path.Join("static", e.Name())) //nolint:errcheck // As above.
		a.add(e.Name(), content)
	}
	a.add("doc.css", []byte(doc.CSS))
	return a
}

func (a *assets) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.names[name], a.files[hashed] = hashed, content
}

// url returns the path of a file. It fails if the file does not exist, which is a bug in a
// template.
func (a *assets) url(name string) (string, error) {
	hashed, ok := a.names[name]
	if !ok {
		return "", fmt.Errorf("there is no file static/%s", name)
	}
	return "/static/" + hashed, nil
}

// serve answers with a file.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	content, ok := a.files[name]
	if !ok {
		return server.NotFound("there is no file %s", name)
	}
	w.Header().Set("Content-Type", cmp.Or(mediaTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name))))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return nil
}
