package golden

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every metric for which there are vectors has a function that is held to them, in
// the golden test of some package.
func TestEveryMetricIsTested(t *testing.T) {
	dir := filepath.Join(root(t), "..", "shared", "golden")
	if _, err := os.Stat(dir); err != nil {
		t.Logf("not there, not tested: %s", dir)
		return
	}
	tested := goldenTests(t)
	metrics := map[string]bool{}
	for _, name := range vectorFiles(t, dir) {
		metrics[strings.TrimSuffix(filepath.Base(name), ".jsonl")] = true
	}
	for metric := range metrics {
		// Those of a benchmark may be made from the list of its tasks.
		family, _, _ := strings.Cut(metric, "_")
		if !strings.Contains(tested, `"`+metric+`"`) && !strings.Contains(tested, `metrics["`+family+`_"+task]`) {
			t.Errorf("no golden test names %s", metric)
		}
	}
	if len(metrics) < 80 {
		t.Errorf("%d metrics found, want more than 80: the test sees too little", len(metrics))
	}
}

func vectorFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// goldenTests returns the text of all tests that use this package.
func goldenTests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	fsys := os.DirFS(root(t))
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		if strings.Contains(string(text), "deem/internal/golden") {
			all.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
