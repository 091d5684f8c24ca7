package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/docs"
	"deem/internal/manual"
	"deem/internal/server"
	"deem/internal/server/web"
)

func ourManual(t *testing.T) *manual.Manual {
	t.Helper()
	m, err := manual.New(docs.Files, map[string][]byte{"reference": []byte("# Reference\n\nSee [data](data.md).\n")})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDocs asks a server for pages and files of the documentation.
func TestDocs(t *testing.T) {
	s := newServerWith(t, server.Options{Store: openStore(t)}, web.Options{Docs: ourManual(t)})
	for path, want := range map[string]string{
		"/docs/":                        "<h1 id=\"deem-documentation\">",
		"/docs/compare.html":            `aria-current="page">Comparing runs</a>`,
		"/docs/benchmarks/locomo.html":  `href="../data.html"`,
		"/docs/benchmarks/index.html":   "<h1",
		"/docs/reference.html":          `href="data.html"`,
		"/docs/llms.txt":                "](compare.html): ",
		"/docs/images/item.png":         "PNG",
		"/docs/search.js":               "window.deemPages = [",
		"/":                             `<a href="/docs/">Docs</a>`,
		"/docs/compare.html?anything=1": "Comparing runs",
	} {
		got := get(t, s, path)
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d, without %s", path, got.Code, want)
		}
	}
	for _, path := range []string{"/docs/nothing.html", "/docs/compare", "/docs/compare.md", "/docs/images/run.png", "/docs/../go.mod"} {
		if got := get(t, s, path); got.Code == http.StatusOK {
			t.Errorf("%s is shown", path)
		}
	}
	if got := get(t, newServer(t, server.Options{Store: openStore(t)}), "/docs/"); got.Code != http.StatusNotFound {
		t.Errorf("a server without documentation: %d", got.Code)
	}
}

// TestDocsSite opens the static site in a browser: it looks as it should, its search finds a
// page and goes to it, and it has no accessibility problem.
func TestDocsSite(t *testing.T) {
	dir := t.TempDir()
	n, err := web.WriteDocs(t.Context(), ourManual(t), dir, "v1")
	if err != nil || n < 70 {
		t.Fatalf("%d files, %v", n, err)
	}
	for _, name := range []string{"index.html", "benchmarks/index.html", "design/decisions.html", "search.js", "llms.txt", "images/item.png"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "index-2.html")); err == nil {
		t.Error("the first page has two files")
	}
	for _, width := range []int{1280, 400} {
		b := openBrowser(t, newServerWith(t, server.Options{Store: openStore(t)}, web.Options{Docs: ourManual(t)}), width, 800)
		for _, name := range []string{"index.html", "compare.html", "benchmarks/longmemeval.html", "reference.html"} {
			b.open("/docs/" + name) // axe reads styles again, which pages on a disk may not
			b.fits("docs-" + strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-"))
			b.accessible()
		}
		b.url = "file://" + dir + "/"
		b.open("benchmarks/locomo.html")
		b.text("(() => { const f = document.getElementById('docsquery'); f.value = 'preregister'; f.dispatchEvent(new Event('input')); return 1 })()")
		b.until("document.querySelectorAll('#docsfound li').length > 0")
		b.follow("#docsfound a")
		b.until("document.title.startsWith('Preregister a run')")
		b.quiet()
	}
}
