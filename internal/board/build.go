package board

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"deem"
	"deem/internal/doc"
	"deem/internal/words"
)

//go:embed pages
var pages embed.FS

var templates = template.Must(template.ParseFS(pages, "pages/*.html"))

// itemsPerPage keeps pages of items small enough to read.
const itemsPerPage = 50

// A site is the pages of a board, which a writer is given one after the other.
type site struct {
	c        *Checked
	put      func(name string, text []byte) error
	verifier string // the size of the verifier, "" if there is none
	n        int
}

// Build writes the pages of a board into a folder, which must not exist. The verifier is a
// folder with verifier.wasm and wasm_exec.js, or "". It returns the number of files.
func (c *Checked) Build(ctx context.Context, dir, verifier string) (int, error) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return 0, deem.WithHint(fmt.Errorf("%s is there already", dir), "remove it, or name another folder with -o")
	}
	return c.pages(ctx, verifier, func(name string, text []byte) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // Pages are public.
			return err
		}
		return os.WriteFile(to, text, 0o644) //nolint:gosec // Pages are public.
	})
}

// CompareSite compares the pages in a folder with those that the files give, byte by byte. A
// page that differs, is missing, or belongs to nothing is a finding. The verifier is not
// compared.
func (c *Checked) CompareSite(ctx context.Context, dir string) error {
	with := ""
	if _, err := os.Stat(filepath.Join(dir, verifierFile)); err == nil {
		with = dir
	}
	known := map[string]bool{verifierFile: true, execFile: true}
	_, err := c.pages(ctx, with, func(name string, text []byte) error {
		known[name] = true
		there, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.find(KindPage, name, "it is missing")
		case err != nil:
			return err
		case !bytes.Equal(there, text):
			c.find(KindPage, name, "it is not what the files give: from byte %d on it differs", differAt(there, text))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if name = filepath.ToSlash(name); err == nil && !known[name] {
			c.find(KindPage, name, "nothing on the board gives it")
		}
		return err
	})
}

func differAt(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// The verifier on a site.
const (
	verifierFile = "verifier.wasm.gz"
	execFile     = "wasm_exec.js"
)

// pages makes every file of the site.
func (c *Checked) pages(ctx context.Context, verifier string, put func(string, []byte) error) (int, error) {
	s := &site{c: c, put: put}
	if err := s.addVerifier(verifier); err != nil {
		return s.n, err
	}
	if err := s.static(); err != nil {
		return s.n, err
	}
	if err := s.page("index.html", c.board.config.Title, c.index(), ""); err != nil {
		return s.n, err
	}
	for _, l := range c.lanes {
		for _, r := range l.rows {
			if err := ctx.Err(); err != nil {
				return s.n, err
			}
			if err := s.row(r); err != nil {
				return s.n, fmt.Errorf("%s: %w", r.file, err)
			}
		}
	}
	return s.n, nil
}

// add adds a file.
func (s *site) add(name string, text []byte) error {
	s.n++
	return s.put(name, text)
}

// static adds the files that are copied: style, scripts and the log.
func (s *site) static() error {
	extra, err := pages.ReadFile("pages/board.css")
	if err == nil {
		err = s.add("style.css", append([]byte(doc.CSS+"\n"), extra...))
	}
	for _, name := range []string{entriesFile, checkpointFile, configFile} {
		if err != nil {
			return err
		}
		var text []byte
		if text, err = os.ReadFile(s.c.board.path(name)); err == nil {
			err = s.add(name, text)
		}
	}
	return err
}

// addVerifier adds the verifier and its scripts. Its size is that of the download.
func (s *site) addVerifier(dir string) error {
	if dir == "" {
		return nil
	}
	packed, err := os.ReadFile(filepath.Join(dir, verifierFile))
	if errors.Is(err, fs.ErrNotExist) {
		packed, err = pack(filepath.Join(dir, "verifier.wasm"))
	}
	if err != nil {
		return deem.WithHint(fmt.Errorf("the verifier: %w", err), "make verifier builds it in bin/verifier: --verifier bin/verifier")
	}
	exec, err := os.ReadFile(filepath.Join(dir, execFile))
	if err != nil {
		return err
	}
	s.verifier = fmt.Sprintf("%.1f MB", float64(len(packed))/1e6)
	files := map[string][]byte{verifierFile: packed, execFile: exec}
	for _, name := range []string{"verify.js", "worker.js"} {
		if files[name], err = pages.ReadFile("pages/" + name); err != nil {
			return err
		}
	}
	for _, name := range []string{execFile, verifierFile, "verify.js", "worker.js"} {
		if err := s.add(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// pack returns a file compressed, always to the same bytes.
func pack(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close() // It writes the end.
	return out.Bytes(), err
}

// A pageView is what every page shows.
type pageView struct {
	Title, Board, Up string
	Root             string // the way to the folder of the site
	Body             template.HTML
	Verify           string // the address of the run file to verify, "" for none
	Size, FileSize   string
	Items            []itemView
	Pages            []linkView
}

type linkView struct{ Text, URL string }

// page adds a page that shows a document.
func (s *site) page(name, title string, d *doc.Document, verify string) error {
	root := strings.Repeat("../", strings.Count(name, "/"))
	body, err := doc.Fragment(d, func(l doc.Link) string {
		if l.Run == "" {
			return ""
		}
		return root + l.Run
	})
	if err != nil {
		return err
	}
	return s.render("page.html", name, pageView{Title: title, Body: body, Verify: verify})
}

func (s *site) render(template, name string, v pageView) error {
	v.Root, v.Board = strings.Repeat("../", strings.Count(name, "/")), s.c.board.config.Title
	if v.Verify != "" {
		v.Size = s.verifier
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, template, v); err != nil {
		return err
	}
	return s.add(name, out.Bytes())
}

// row adds the pages of a row, and its run file.
func (s *site) row(r *row) error {
	text, err := os.ReadFile(s.c.board.path(r.file))
	if err != nil {
		return err
	}
	if hashOf(text) != r.sha {
		return errors.New("the file was changed while the board was built")
	}
	if err := s.add(r.file, text); err != nil {
		return err
	}
	id := base(r.file)
	if err := s.page(path.Join("rows", id, "index.html"), r.System+" · "+r.in.Name, s.c.rowDocument(r), "../../"+r.file); err != nil {
		return err
	}
	items, err := s.c.itemsOf(r, text)
	if err != nil {
		return err
	}
	count := (len(items) + itemsPerPage - 1) / itemsPerPage
	var list []linkView
	for n := range count {
		last := min((n+1)*itemsPerPage, len(items))
		list = append(list, linkView{fmt.Sprintf("%s to %s", words.Comma(n*itemsPerPage+1), words.Comma(last)), itemsPage(n)})
	}
	for n := range count {
		last := min((n+1)*itemsPerPage, len(items))
		links := append([]linkView{}, list...)
		links[n].URL = ""
		err := s.render("items.html", path.Join("rows", id, itemsPage(n)), pageView{Title: "Items of " + r.System + " · " + r.in.Name, Up: "index.html", Items: items[n*itemsPerPage : last], Pages: links})
		if err != nil {
			return err
		}
	}
	return nil
}

func itemsPage(n int) string { return fmt.Sprintf("items-%d.html", n+1) }
