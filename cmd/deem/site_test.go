package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deem/internal/store"
	"deem/internal/store/postgres"
	"deem/internal/store/sqlite"
)

// A site is everything that lives through the rounds: a vendor, a server of a file, and, if
// there is a Postgres, a server of that and workers.
type site struct {
	t      *testing.T
	dir    string // of the settings, and of the file
	began  time.Time
	vendor *vendor

	page *web // of the file

	url    string // of the Postgres; "" for none
	shared *web   // its page
	kept   *postgres.Store
	third  *process // the worker that is killed

	watched []*watched

	mu  sync.Mutex
	sum tally
}

// dead is the time after which a silent worker counts as dead.
const dead = "10s"

// declared is a judge that requires JSON.
const declared = `name: soak-json
prompt: |
  Question: {question}
  Right answer: {reference}
  Response: {response}
  Is the response right? Answer in JSON: {{"label": "SAME"}} or {{"label": "DIFFERENT"}}.
labels: {SAME: 1, DIFFERENT: 0}
read: {how: json, reason: why}
`

// second is a judge with a different prompt than universal and the same labels.
const second = `name: soak-second
prompt: |
  {question} {reference}, they say. The response is: {response}
  Say CORRECT or INCORRECT.
labels: {CORRECT: 1, INCORRECT: 0}
`

// three is a panel of a rule and two models.
const three = `kind: panel
name: soak-three
rule: majority
members: [contains, universal, second.yaml]
`

// newSite starts everything.
func newSite(t *testing.T, sc scale) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), began: time.Now(), vendor: newVendor(t)}
	for name, text := range map[string]string{"prices.json": prices, "second.yaml": second, "three.yaml": three, "json.yaml": declared} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.url = postgresURL(t)
	if err := s.fill(t.Context(), sc.items(60_000)); err != nil {
		t.Fatal(err)
	}
	if err := s.startAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fill puts an old run into the file, so that it is in use from the beginning. SQLite
// caches pages of it for each connection, up to a bound that a file of some megabytes does
// not reach: while the file is small, the memory of the server grows with it.
func (s *site) fill(ctx context.Context, n int) error {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	some := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = words[rng.IntN(len(words))]
		}
		return strings.Join(list, " ")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range n {
		if err := enc.Encode(item{ID: itemID(i), Category: "old", Question: some(10), References: []string{some(3)}, Response: some(40)}); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "old.jsonl"), b.Bytes(), 0o600); err != nil {
		return err
	}
	_, err := run(ctx, s.dir, nil, "run", "--db", s.file(), "--data", "old.jsonl", "--judge", "f1")
	return err
}

// startAll starts the processes.
func (s *site) startAll(ctx context.Context) error {
	var err error
	if s.page, err = s.serve(ctx, "serve", s.file()); err != nil || s.url == "" {
		return err
	}
	if s.shared, err = s.serve(ctx, "serve-pg", s.url); err != nil {
		return err
	}
	if s.kept, err = postgres.Open(ctx, s.url, postgres.Options{Conns: 4}); err != nil {
		return err
	}
	s.t.Cleanup(func() { _ = s.kept.Close() })
	for _, name := range []string{"worker-1", "worker-2"} {
		if err := s.startWorker(ctx, name); err != nil {
			return err
		}
	}
	s.third, err = s.worker(ctx)
	return err
}

// file returns the path of the SQLite database.
func (s *site) file() string { return filepath.Join(s.dir, "runs.db") }

// serve starts a watched server.
func (s *site) serve(ctx context.Context, name, db string) (*web, error) {
	w, err := serve(ctx, s.dir, nil, "--db", db, "--model", "openai:soak", "--base-url", s.vendor.url, "-j", "8", "--runs", "4",
		"--prices", "prices.json", "--max-cost", "100", "--max-total", "100000", "--spool", "spool-"+name)
	if err != nil {
		return nil, err
	}
	s.endWith(w.process)
	seen := &watched{name: name, process: w.process, url: w.url}
	if !strings.Contains(db, "://") {
		seen.log = db + "-wal"
	}
	s.watched = append(s.watched, seen)
	return w, nil
}

// endWith kills a process that is still running when the test is over.
func (s *site) endWith(p *process) {
	s.t.Cleanup(func() {
		if !p.gone() {
			p.kill()
		}
	})
}

// slots is how many items a worker judges concurrently.
const slots = 8

// worker starts a worker.
func (s *site) worker(ctx context.Context) (*process, error) {
	p, err := start(ctx, s.dir, []string{"DEEM_DB=" + s.url}, "worker", "-j", fmt.Sprint(slots), "--base-url", "openai="+s.vendor.url,
		"--dead-after", dead, "--listen", "127.0.0.1:0")
	if err == nil {
		s.endWith(p)
	}
	return p, err
}

// startWorker starts a watched worker.
func (s *site) startWorker(ctx context.Context, name string) error {
	p, err := s.worker(ctx)
	if err != nil {
		return err
	}
	w := &watched{name: name, process: p}
	s.watched = append(s.watched, w)
	return until(ctx, name+" to say where it is", func() (bool, error) {
		if p.gone() {
			return false, p.trouble(errors.New("the worker does not start"))
		}
		w.url = between(p.err.String(), "health and metrics are at ", "\n")
		return w.url != "", nil
	})
}

// stored calls a function with the file's store, opened for reading.
func (s *site) stored(ctx context.Context, file string, do func(store.Store) error) error {
	st, err := sqlite.OpenReadOnly(ctx, file, sqlite.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// checkFile checks a lane whose run is in a file.
func (s *site) checkFile(ctx context.Context, file, id string, l *lane) error {
	return s.stored(ctx, file, func(st store.Store) error { return s.check(ctx, st, id, l) })
}

// check checks a lane and adds its counts.
func (s *site) check(ctx context.Context, st store.Store, id string, l *lane) error {
	got, err := l.check(ctx, st, id)
	got.Items = l.n
	s.add(got)
	return err
}

// add counts.
func (s *site) add(t tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum.add(t)
}

// sampling measures all watched processes periodically until ctx is done.
func (s *site) sampling(ctx context.Context, every time.Duration) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		for _, w := range s.watched {
			if err := w.sample(time.Since(s.began)); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// idle closes connections and measures what is left.
func (s *site) idle(ctx context.Context) error {
	s.vendor.srv.CloseClientConnections()
	for _, w := range []*web{s.page, s.shared} {
		if w != nil {
			w.client.CloseIdleConnections()
		}
	}
	var do []func() error
	for _, w := range s.watched {
		do = append(do, func() error { return w.idle(ctx, time.Since(s.began)) })
	}
	return together(do...)
}

// stop gracefully stops all processes, and checks that none of them complained.
func (s *site) stop() error {
	var errs []error
	all := s.processes()
	for _, p := range all {
		errs = append(errs, p.stop())
		if line := p.complaint(); line != "" {
			errs = append(errs, p.trouble(errors.New(line)))
		}
	}
	return errors.Join(errs...)
}

// processes returns the running processes.
func (s *site) processes() []*process {
	var list []*process
	for _, w := range s.watched {
		list = append(list, w.process)
	}
	if s.third != nil {
		list = append(list, s.third)
	}
	return list
}
