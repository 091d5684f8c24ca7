package golden

import (
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
		t.Skipf("the shared vectors are missing: %v", err)
	}
	tested := goldenTests(t)
	metrics := map[string]bool{}
	for _, name := range vectorFiles(t, dir) {
		metrics[strings.TrimSuffix(filepath.Base(name), ".jsonl")] = true
	}
	for metric := range metrics {
		if !isTested(tested, metric) {
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
