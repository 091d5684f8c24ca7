package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// readAll reads pages of both servers, like several users, until ctx is done.
func (r *round) readAll(ctx context.Context) error {
	var do []func() error
	for i := range 3 {
		w := r.page
		if i == 2 && r.shared != nil {
			w = r.shared
		}
		rng := rand.New(rand.NewPCG(r.seed, uint64(i)+1))
		do = append(do, func() error { return r.read(ctx, w, rng) })
	}
	return together(do...)
}

// read reads one page after the other, with pauses like a user.
func (r *round) read(ctx context.Context, w *web, rng *rand.Rand) error {
	for ctx.Err() == nil {
		runs, err := newest(ctx, w)
		for i := 0; i < 10 && err == nil && ctx.Err() == nil; i++ {
			err = r.readOne(ctx, w, rng, runs)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("a reader: %w", err)
		}
	}
	return nil
}

// newest returns the ids of the newest runs that have a record.
func newest(ctx context.Context, w *web) ([]string, error) {
	text, err := w.get(ctx, "/api/v1/runs?limit=20")
	if err != nil {
		return nil, err
	}
	var list struct {
		Runs []runInfo `json:"runs"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, run := range list.Runs {
		if run.Records > 0 {
			ids = append(ids, run.ID)
		}
	}
	return ids, nil
}

// readOne reads a random page, and pauses.
func (r *round) readOne(ctx context.Context, w *web, rng *rand.Rand, runs []string) error {
	path := pageOf(rng, runs)
	resp, err := w.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	err = readStatus(resp, path)
	r.add(tally{Pages: 1})
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(50+rng.IntN(200)) * time.Millisecond):
	}
	return err
}

// pageOf returns a random page to read.
func pageOf(rng *rand.Rand, runs []string) string {
	if len(runs) == 0 {
		return "/"
	}
	run, other := runs[rng.IntN(len(runs))], runs[rng.IntN(len(runs))]
	word := words[rng.IntN(len(words))]
	pages := []string{
		"/", "/runs/" + run, "/runs/" + run + "/items", "/runs/" + run + "/items?q=" + word, "/runs/" + run + "/items?verdict=no&sort=score",
		"/runs/" + run + "/items.csv?category=c1", "/compare?run=" + run + "&run=" + other, "/runs/" + run + "/agreement",
		"/api/v1/runs/" + run + "/report", "/api/v1/runs/" + run + "/records?q=" + word + "&with=item,calls",
		"/api/v1/runs/" + run + "/records?limit=5&verdict=unjudged", "/api/v1/runs/" + run + "/export?format=markdown",
		"/metrics", "/readyz",
	}
	return pages[rng.IntN(len(pages))]
}

// readStatus reads a page to its end and checks that it was shown.
func readStatus(resp *http.Response, path string) error {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, text[:min(len(text), 2000)])
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}
