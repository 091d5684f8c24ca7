package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deem"
	"deem/bundle"
	"deem/internal/cli"
	"deem/judge/match"
)

// TestVerifyBundleOfALibrary checks a run file that a Go program wrote with only the public
// packages, and one whose dataset has a different hash.
func TestVerifyBundleOfALibrary(t *testing.T) {
	items := func(yield func(deem.Item, error) bool) {
		_ = yield(deem.Item{ID: "q1", References: []string{"18 days"}, Response: "It took 18 days."}, nil) &&
			yield(deem.Item{ID: "q2", References: []string{"Rex"}, Response: "The dog is called Max."}, nil)
	}
	right, err := deem.DatasetHash(items)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, hash string
		exit       int
	}{
		{"the hash of its items", right, 0},
		{"another hash", strings.Repeat("0", 64), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.deem")
			writeRun(t, file, items, c.hash)
			var out strings.Builder
			if code := cli.Main([]string{"verify", file}, strings.NewReader(""), &out, &out); code != c.exit {
				t.Errorf("deem verify: exit code %d, want %d:\n%s", code, c.exit, out.String())
			}
		})
	}
}

// writeRun judges items by match and writes the run file.
func writeRun(t *testing.T, file string, items func(func(deem.Item, error) bool), dataset string) {
	t.Helper()
	j := match.New()
	hash, err := deem.JudgeHash(j)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := deem.Canonical(j.(deem.Identified).Identity())
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, time.November, 15, 9, 0, 0, 0, time.UTC)
	w, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bundle.Write(w, bundle.Source{
		Run: bundle.Run{
			ID: "20261115-9f3a2c", State: "done", Created: when, Updated: when, Trials: 1, Records: 2,
			Dataset: bundle.Dataset{Names: []string{"answers"}, Hash: dataset, Items: 2},
		},
		Judge:    bundle.Judge{Name: j.Name(), Hash: hash, Identity: identity, Rule: true},
		Software: "a test",
		Records:  deem.Run(t.Context(), items, j, deem.Options{Concurrency: 1}),
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
