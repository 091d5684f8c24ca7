package queue_test

import (
	"os"
	"testing"
)

// A run that was left to workers is judged by them and finished, with a rule and with a
// model, and the worker goes when it is told to.
func TestWorkersJudge(t *testing.T) {
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
