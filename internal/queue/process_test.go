package queue_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Workers judge and finish a queued run, with a rule and with a model, and a worker exits
// when it is stopped.
func TestWorkersJudge(t *testing.T) {
	t.Parallel()
	url := pgURL(t)
	st, _ := open(t, url)
	dir := t.TempDir()
	const n = 1000
	writeItems(t, dir, n)
	rule := detach(t, dir, url, "--judge", "contains")
	model := detach(t, dir, url, "--judge", "universal", "--model", "fake:labels=CORRECT|INCORRECT")
	w := start(t, t.TempDir(), url, "worker", "-j", "8")
	finished(t, st, rule)
	finished(t, st, model)
	checkRecords(t, st, rule, n, 0)
	checkRecords(t, st, model, n, 1)
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := w.wait(t); code != 0 {
		t.Errorf("a worker that is told to stop exits with %d, want 0\n%s", code, w.err.String())
	}
}

// A run that workers have cannot be judged by a command at the same time, cannot be queued
// twice, and needs a database that workers can share.
func TestQueuedIsBusy(t *testing.T) {
	t.Parallel()
	url := pgURL(t)
	dir := t.TempDir()
	writeItems(t, dir, 20)
	id := detach(t, dir, url, "--judge", "contains")
	for _, args := range [][]string{{"run", "--data", "items.jsonl", "--judge", "contains"}, {"run", "--data", "items.jsonl", "--judge", "contains", "--detach"}} {
		p := run(t, dir, url, 1, args...)
		if !strings.Contains(p.err.String(), "workers have the run") {
			t.Errorf("deem %v says:\n%s", args, p.err.String())
		}
	}
	run(t, dir, url, 0, "queue", "cancel", id)
	run(t, dir, url, 0, "run", "--data", "items.jsonl", "--judge", "contains") // Now it may.
	again := detach(t, dir, url, "--judge", "contains")
	if again != id {
		t.Errorf("the run was queued as %s, want %s", again, id)
	}
	p := run(t, dir, url, 0, "queue", "status", id)
	if !strings.Contains(p.out.String(), "done, 20 of 20 records") {
		t.Errorf("deem queue says:\n%s", p.out.String())
	}
	run(t, dir, filepath.Join(dir, "file.db"), 2, "run", "--data", "items.jsonl", "--detach")
	run(t, dir, filepath.Join(dir, "file.db"), 2, "worker")
}

// A worker reports that it is alive and ready, and its metrics.
func TestHealth(t *testing.T) {
	t.Parallel()
	url := pgURL(t)
	st, _ := open(t, url)
	dir := t.TempDir()
	writeItems(t, dir, 30)
	id := detach(t, dir, url, "--judge", "universal", "--model", "fake:labels=CORRECT|INCORRECT")
	w := start(t, t.TempDir(), url, "worker", "--listen", "127.0.0.1:0")
	finished(t, st, id)
	_, at, _ := strings.Cut(w.err.String(), "health and metrics are at ")
	at, _, _ = strings.Cut(at, "\n")
	get := func(path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(resp.StatusCode, " ", string(body))
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := get(path); got != "200 ok\n" {
			t.Errorf("%s = %q", path, got)
		}
	}
	until(t, "the counters", func() bool { return strings.Contains(get("/metrics"), "\ndeem_worker_records_total 30\n") })
	metrics := get("/metrics")
	for _, want := range []string{"\ndeem_worker_ready 1\n", "\ndeem_worker_slots 16\n", `gen_ai_operation_name="chat"`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in\n%s", want, metrics)
		}
	}
	if strings.Contains(metrics, `gen_ai_operation_name="embeddings"`) {
		t.Error("calls of a model are counted as embeddings")
	}
}
