package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// asks is how often each page is asked for, each time a little differently: the server
// keeps what it counted.
const asks = 40

// patience is how long may pass until something happens that must happen.
const patience = 5 * time.Minute

// web is a server that shows a run of 100,000 records.
func web() workload {
	return workload{
		name: "pages of a run of 100,000 records",
		once: func(ctx context.Context, l *lab) ([]value, error) {
			k, err := l.keep(ctx, many)
			if err != nil {
				return nil, err
			}
			// The index of words is made once and kept, so each server gets a store
			// without it.
			dir, err := l.folder()
			if err != nil {
				return nil, err
			}
			defer func() { _ = os.RemoveAll(dir) }()
			if err := os.CopyFS(dir, os.DirFS(k.dir)); err != nil {
				return nil, err
			}
			s, err := l.startSite(ctx, dir)
			if err != nil {
				return nil, err
			}
			defer s.close()
			return s.visit(ctx, k)
		},
	}
}

// A site is deem serve in a process of its own.
type site struct {
	url  string // of the first page
	cmd  *exec.Cmd
	said bytes.Buffer // on standard error
}

// startSite shows the store in a folder. Closing it ends it.
func (l *lab) startSite(ctx context.Context, dir string) (*site, error) {
	s := &site{cmd: exec.CommandContext(ctx, l.deem, "serve", "--listen", "127.0.0.1:0", "--json")} //nolint:gosec // the program is ours
	s.cmd.Dir, s.cmd.Stderr, s.cmd.Env = dir, &s.said, environment()
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var welcome struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&welcome); err != nil {
		s.close()
		return nil, fmt.Errorf("deem serve did not say where it is: %w\n%s", err, tail(s.said.String()))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // Wait, in close, ends it.
	s.url = strings.TrimSuffix(welcome.URL, "/")
	return s, nil
}

// close stops the server as Ctrl-C does, and waits for it.
func (s *site) close() {
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	_ = s.cmd.Wait()
}

// A view is a page that is asked for many times.
type view struct {
	name string
	path func(i int) string // of the i-th ask
	has  func(i int) string // what stands on the page, to know that it is the one
}

// views are the pages of a run of n records that are asked for. Numbers are spread over
// the run.
func views(k kept) []view {
	run := "/runs/" + url.PathEscape(k.run)
	spread := func(i int) int { return (i*7919 + 13) % k.n }
	items := func(query string) string { return run + "/items?" + query }
	return []view{
		{"run page", func(int) string { return run }, func(int) string { return "universal" }},
		{
			"item page",
			func(i int) string { return run + "/items/" + itemID(spread(i)) },
			func(i int) string { return rareWord(spread(i) / inTen) },
		},
		{
			"filter by category and verdict",
			func(i int) string { return items("category=" + category(i) + "&verdict=yes") },
			func(int) string { return " records</b> of " + thousands(k.n) },
		},
		{
			"search for a rare word",
			func(i int) string { return items("q=" + rareWord(spread(i)/inTen)) },
			func(int) string { return fmt.Sprintf("<b>%d records</b> of %s", inTen, thousands(k.n)) },
		},
		{
			"search for a frequent word",
			func(i int) string { return items("q=" + frequentWord(i%frequent)) },
			func(int) string { return " records</b> of " + thousands(k.n) },
		},
		{
			"sorted by score, one category",
			func(i int) string { return items("sort=score&desc=1&category=" + category(i)) },
			func(int) string { return " records</b> of " + thousands(k.n) },
		},
	}
}

// visit waits until the run is counted and its words are indexed, and then asks for each
// page many times.
func (s *site) visit(ctx context.Context, k kept) ([]value, error) {
	indexed, err := s.ready(ctx, k)
	if err != nil {
		return nil, err
	}
	values := []value{{measure{what: "until all words are found", kind: clock, unit: "s"}, indexed.Seconds(), ""}}
	for _, v := range views(k) {
		took, err := s.ask(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		middle, worst := took[len(took)/2], took[len(took)-1]
		values = append(values, value{
			measure{what: v.name + ", median", kind: clock, unit: "ms", limit: 200},
			milliseconds(middle),
			fmt.Sprintf("%d asks, the slowest %.1f ms", len(took), milliseconds(worst)),
		})
	}
	return values, nil
}

// ready asks for the page of the run and for a word until both are all there, and
// returns how long the words took.
func (s *site) ready(ctx context.Context, k kept) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run := s.url + "/runs/" + url.PathEscape(k.run)
	began := time.Now()
	if err := gone(ctx, run+"/items?q="+rareWord(0), "index of words knows"); err != nil {
		return 0, err
	}
	indexed := time.Since(began)
	return indexed, gone(ctx, run, "is being counted")
}

// gone asks for a page until something no longer stands on it.
func gone(ctx context.Context, page, notice string) error {
	for {
		text, err := fetch(ctx, page)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte(notice)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s still says %q: %w", page, notice, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask asks for a page many times and returns how long each took, in order of length.
func (s *site) ask(ctx context.Context, v view) ([]time.Duration, error) {
	var took []time.Duration
	for i := range asks {
		began := time.Now()
		text, err := fetch(ctx, s.url+v.path(i))
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		if want := v.has(i); !bytes.Contains(text, []byte(want)) {
			return nil, fmt.Errorf("%s does not say %q", v.path(i), want)
		}
	}
	slices.Sort(took)
	return took, nil
}
