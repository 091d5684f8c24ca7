package web

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"iter"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"deem/bundle"
	"deem/internal/reports"
	"deem/internal/server"
	"deem/internal/store"
)

// WriteSite writes the pages of runs as static files into a folder, which it creates. It
// omits everything that needs a server. Links between the files are relative, so that the
// folder can be opened from a disk or served by any web server. Each run includes its run
// file, and pages of at most the given number of items. WriteSite returns the number of
// files.
func WriteSite(ctx context.Context, st store.Database, runs []store.Run, dir, version string, items int) (int, error) {
	core, err := server.New(server.Options{Store: &chosenRuns{Database: st, runs: runs}, Version: version, ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer core.Close()
	s := New(core, Options{})
	s.static = true
	// The pages link to the run files. No other part of the API is in a site.
	core.Add(server.Part{Routes: []server.Route{{Pattern: "GET " + server.APIRoot + "/runs/{id}/export", Handle: func(w http.ResponseWriter, r *http.Request) error {
		run, err := core.RunOf(r)
		if err == nil {
			_, err = reports.WriteBundle(r.Context(), w, st, run, bundle.Source{Software: strings.TrimSpace("deem " + version)})
		}
		return err
	}}}})
	w := newSiteWriter(ctx, s, dir)
	w.most = items
	for _, run := range runs { // The list does not wait for scores, so make them first.
		_, _ = s.reports.score(ctx, run) //nolint:errcheck // The pages say what is wrong.
		w.ids = append(w.ids, run.ID)
	}
	w.want("/")
	for _, run := range runs { // The first items of the dataset get pages before other linked items.
		if items == 0 {
			break
		}
		recs, err := st.View(ctx, run.ID, store.View{Query: store.Query{Limit: items, Brief: true}})
		if err != nil {
			return 0, err
		}
		for _, rec := range recs {
			w.want(itemURL(run.ID, rec.Item.ID))
		}
	}
	return w.writeAll()
}

// chosenRuns is a database restricted to some of its runs.
type chosenRuns struct {
	store.Database
	runs []store.Run
}

// Runs returns the chosen runs, newest first.
func (c *chosenRuns) Runs(context.Context) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) {
		for _, run := range c.runs {
			if !yield(run, nil) {
				return
			}
		}
	}
}

// Deleted returns no runs.
func (c *chosenRuns) Deleted(context.Context) iter.Seq2[store.Run, error] {
	return func(func(store.Run, error) bool) {}
}

// Run returns a chosen run by its full id.
func (c *chosenRuns) Run(_ context.Context, ref string) (store.Run, error) {
	if i := slices.IndexFunc(c.runs, func(run store.Run) bool { return run.ID == ref }); i >= 0 {
		return c.runs[i], nil
	}
	return store.Run{}, store.NotFound(ref)
}

// A siteWriter follows the links of pages and writes each page once.
type siteWriter struct {
	s     *Server
	ctx   context.Context
	dir   string
	ids   []string
	files map[string]string // by URL
	todo  []string          // URLs whose files are not yet written
	taken map[string]int    // number of URLs that want a file name
	items map[string]int    // the number of an item's page, by run and item
	count map[string]int    // number of items with pages, by run
	most  int
}

func newSiteWriter(ctx context.Context, s *Server, dir string) *siteWriter {
	return &siteWriter{s: s, ctx: ctx, dir: dir, files: map[string]string{}, taken: map[string]int{}, items: map[string]int{}, count: map[string]int{}}
}

// writeAll writes the files that are wanted, and those that they link to. It returns the
// number of files.
func (w *siteWriter) writeAll() (int, error) {
	for len(w.todo) > 0 {
		if err := w.write(); err != nil {
			return len(w.files), err
		}
	}
	return len(w.files), nil
}

// linkPattern matches links in our pages, which always quote them.
var linkPattern = regexp.MustCompile(` (href|src|action|formaction)="([^"]*)"`)

// write writes the next file.
func (w *siteWriter) write() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	address := w.todo[0]
	w.todo = w.todo[1:]
	req := httptest.NewRequestWithContext(w.ctx, http.MethodGet, "http://localhost"+address, http.NoBody)
	answer := httptest.NewRecorder()
	for range 60 { // Retry while the page is not ready.
		w.s.Mux.ServeHTTP(answer, req)
		if answer.Header().Get("Refresh") == "" {
			break
		}
		answer = httptest.NewRecorder()
	}
	if answer.Code != http.StatusOK {
		return fmt.Errorf("%s: %s", address, http.StatusText(answer.Code))
	}
	name := w.files[address]
	text := answer.Body.String()
	if kind, _, _ := mime.ParseMediaType(answer.Header().Get("Content-Type")); kind == "text/html" { //nolint:errcheck // A type that cannot be parsed is not HTML.
		text = linkPattern.ReplaceAllStringFunc(text, func(link string) string {
			m := linkPattern.FindStringSubmatch(link)
			if m[1] != "href" && m[1] != "src" {
				return ""
			}
			if w.s.docsOnly && strings.Contains(m[2], "://") {
				return m[0]
			}
			to := w.want(resolve(req.URL, html.UnescapeString(m[2])))
			if to == "" {
				return ""
			}
			if file, fragment, _ := strings.Cut(to, "#"); file != "" { // else it is on the same page
				to = strings.Repeat("../", strings.Count(name, "/")) + (&url.URL{Path: file, Fragment: fragment}).String()
			}
			return " " + m[1] + `="` + html.EscapeString(to) + `"`
		})
	}
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // The exported site is meant to be read by everyone.
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // The exported site is meant to be read by everyone.
}

// resolve returns the absolute form of a relative link to another page of the documentation,
// and all other links as they are.
func resolve(page *url.URL, link string) string {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return link
	}
	u = page.ResolveReference(u)
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery, Fragment: u.Fragment}).String()
}

// want returns the file name of a URL, with the fragment, and queues the file to be written.
// It returns "" for URLs of other hosts and for pages that need a server.
func (w *siteWriter) want(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return ""
	}
	if u.Path == "" {
		return "#" + u.Fragment // A fragment of the same page.
	}
	q := u.Query()
	name := w.name(u, q)
	if page, ok := strings.CutPrefix(u.Path, "/docs/"); ok && w.s.docsOnly {
		name = cmp.Or(page, "index.html")
	}
	if name == "" {
		return ""
	}
	u.RawQuery = q.Encode()
	fragment := ""
	if u.Fragment != "" {
		fragment, u.Fragment = "#"+u.Fragment, ""
	}
	key := u.String()
	if file, ok := w.files[key]; ok {
		return file + fragment
	}
	// Different URLs may want the same name, for example two filters of one list.
	w.taken[name]++
	if n := w.taken[name]; n > 1 {
		ext := path.Ext(name)
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
	}
	w.files[key] = name
	w.todo = append(w.todo, key)
	return name + fragment
}

// number gives the page of an item its number. It reports whether there is such a page: a run
// has a limited number of them, and a comparison of runs over different data links to items
// that only one of them has.
func (w *siteWriter) number(key, run, item string) bool {
	if _, known := w.items[key]; known {
		return true
	}
	if w.count[run] >= w.most {
		return false
	}
	for range w.s.Store.Records(w.ctx, run, store.Query{IDs: []string{item}, Limit: 1}) {
		w.count[run]++
		w.items[key] = w.count[run]
		return true
	}
	return false
}

// name returns the file name of a URL, or "" if it has no file. It removes the query
// parameters that do not affect a static page.
func (w *siteWriter) name(u *url.URL, q url.Values) string {
	switch {
	case u.Path == "/" && len(q) == 0:
		return "index.html"
	case u.Path == "/trend" && len(q) == 0:
		return "trend.html"
	case strings.HasPrefix(u.Path, "/static/"):
		return u.Path[1:]
	case u.Path == "/compare" || u.Path == "/compare/flips.csv":
		if n := len(w.ids); n < 2 || n > maxCompared {
			return ""
		}
		if q.Get("runs") == "" {
			q.Set("runs", strings.Join(w.ids, ","))
		}
		if u.Path == "/compare" {
			return "compare.html"
		}
		return "flips.csv"
	}
	if id, ok := strings.CutPrefix(strings.TrimSuffix(u.Path, "/export"), server.APIRoot+"/runs/"); ok && slices.Contains(w.ids, id) && q.Get("format") == "deem" {
		return "runs/" + id + "/" + id + ".deem"
	}
	rest, ok := strings.CutPrefix(u.Path, "/runs/")
	id, rest, _ := strings.Cut(rest, "/")
	if !ok || !slices.Contains(w.ids, id) {
		return ""
	}
	kind, item, _ := strings.Cut(rest, "/")
	switch {
	case rest == "":
		return "runs/" + id + "/index.html"
	case rest == "items", rest == "items.csv":
		q.Del("against")
		if rest == "items" {
			rest = "items.html"
		}
		return "runs/" + id + "/" + rest
	case (rest == "agreement" || rest == "card") && len(q) == 0:
		return "runs/" + id + "/" + rest + ".html"
	case kind == "items" && (item != "" || q.Has("id")):
		maps.DeleteFunc(q, func(name string, _ []string) bool { return name != "id" && name != "t" })
		key := id + "/" + item + q.Get("id")
		if !w.number(key, id, item+q.Get("id")) {
			return ""
		}
		return fmt.Sprintf("runs/%s/items/%d.html", id, w.items[key])
	case kind == "raw":
		return "runs/" + id + "/items/text.txt"
	}
	return ""
}
