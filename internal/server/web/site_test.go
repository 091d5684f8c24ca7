package web_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/bundle"
	"deem/internal/server"
	"deem/internal/server/web"
	"deem/internal/store"
	"deem/judge/match"
)

// A site works from disk: every link leads to an existing file, the pages request nothing
// from a server and look as they should, and the run files contain the records.
func TestSite(t *testing.T) {
	g := newGallery(t)
	dir := t.TempDir()
	runs := []store.Run{g.runs["borealis 0.9"], g.runs["atlas 1.5"], g.runs["atlas 1.4"]}
	n, err := web.WriteSite(t.Context(), g.store, runs, dir, "v1", 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files", n)
	run := "runs/" + runs[1].ID
	for _, name := range []string{"index.html", "trend.html", "compare.html", run + "/index.html", run + "/items.html", run + "/items/30.html", run + "/items.csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, run, "items", "31.html")); err == nil {
		t.Error("there are more pages of items than were asked for")
	}
	f, err := os.Open(filepath.Join(dir, run, runs[1].ID+".deem"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // It is only read.
	r, err := bundle.NewReader(f)
	if err != nil || r.Run.Records != runs[1].Records {
		t.Errorf("the run file: %v, want %d records", err, runs[1].Records)
	}
	siteLinks(t, dir)
	b := openBrowser(t, newServer(t, server.Options{Store: g.store}), 1280, 800)
	for _, name := range []string{"index.html", "trend.html", "compare.html", run + "/index.html", run + "/items.html", run + "/items/1.html", run + "/agreement.html"} {
		b.url = "file://" + dir + "/"
		b.open(name)
		if b.text("getComputedStyle(document.querySelector('.top')).display") != "flex" {
			t.Errorf("%s has no style", name)
		}
		if shown := b.text("[...document.querySelectorAll('form button, form select')].filter(e => e.checkVisibility()).length"); shown != "0" {
			t.Errorf("%s shows %s controls that need a server", name, shown)
		}
		b.fits("site-" + strings.ReplaceAll(strings.TrimSuffix(name, ".html"), "/", "-"))
		b.quiet()
	}
	b.open("index.html")
	b.headed()
	b.follow(fmt.Sprintf("a[href='%s/index.html']", run))
	b.follow(".bartable a")
	b.follow("table.items tbody a[href]")
	b.until("document.body.innerText.includes('Tromsø')")
}

// headed checks that each visible cell of the list of runs stands below the heading of its
// column.
func (b *browser) headed() {
	b.t.Helper()
	apart := b.text(`(() => {
		const shown = (row) => [...row.cells].filter((c) => c.checkVisibility());
		const table = document.querySelector("table.runs");
		const heads = shown(table.tHead.rows[0]);
		return [...table.querySelectorAll("tbody tr:not(.group)")].flatMap((row) => shown(row).map((cell, i) =>
			heads[i] && Math.abs(heads[i].getBoundingClientRect().left - cell.getBoundingClientRect().left) < 2 ? "" : cell.textContent.trim())).filter(Boolean).join(", ");
	})()`)
	if apart != "" {
		b.t.Errorf("these cells do not stand below their headings: %s", apart)
	}
}

// TestPrintedHeadings prints the list of runs: the rules for print are made rules for all.
func TestPrintedHeadings(t *testing.T) {
	b := openBrowser(t, newServer(t, server.Options{Store: newGallery(t).store}), 1280, 800)
	b.open("/")
	b.headed()
	b.text("[...document.styleSheets].flatMap(s => [...s.cssRules]).filter(r => r.media && r.media.mediaText === 'print').forEach(r => { r.media.mediaText = 'all' })")
	if b.text("document.querySelector('.filter').checkVisibility()") != "false" {
		t.Fatal("the page does not look as in print")
	}
	b.headed()
}

// A site of runs over different data links only to items that a run has.
func TestSiteOfDifferentData(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	var runs []store.Run
	for name, items := range map[string][]deem.Item{"few": plainItems(3, "few"), "one": plainItems(60, "one"), "two": plainItems(60, "two")} {
		for i := range items {
			if items[i].Response = "Porto"; name == "two" && i%2 == 0 {
				items[i].Response = "Lisbon"
			}
		}
		runs = append(runs, judged(t, st, match.New(), name, items, 1, nil))
	}
	if n, err := web.WriteSite(t.Context(), st, runs, t.TempDir(), "v1", 400); err != nil || n < 100 {
		t.Errorf("%d files, %v", n, err)
	}
}

// siteLinks checks that every link of every page leads to an existing file and anchor.
func siteLinks(t *testing.T, dir string) {
	t.Helper()
	pages := map[string][]element{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		pages[path] = rawElements(t, path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for at, list := range pages {
		for _, e := range list {
			for _, name := range []string{"href", "src"} {
				link, ok := e.attrs[name]
				if !ok {
					continue
				}
				file, place, _ := strings.Cut(link, "#")
				to := at
				if file != "" {
					to = filepath.Join(filepath.Dir(at), file)
				}
				if _, err := os.Stat(to); err != nil {
					t.Errorf("%s: the link %q leads nowhere", at, link)
				}
				if place != "" && !strings.Contains(fmt.Sprint(pages[to]), "id:"+place) {
					t.Errorf("%s: there is no place %q", at, link)
				}
			}
		}
	}
}
