package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reason that belongs to no package or metric would never be looked at.
func TestLeftNamesWhatExists(t *testing.T) {
	for where := range left {
		if where == "metric" {
			continue
		}
		tests, err := filepath.Glob(filepath.Join(root(t), where, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range tests {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "golden.Test(")
		}
		if !found {
			t.Errorf("left.txt names %s, which has no golden test", where)
		}
	}
	dir := filepath.Join(root(t), "..", "shared", "golden")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the shared vectors are missing: %v", err)
	}
	metrics := map[string]bool{}
	for _, name := range vectorFiles(t, dir) {
		metric, _ := vectorsOf(name)
		metrics[metric] = true
	}
	for metric := range left["metric"] {
		if !metrics[metric] {
			t.Errorf("left.txt names the metric %s, and there are no vectors of it", metric)
		}
	}
}

// The names of files count: a misspelt one would leave its vectors out in silence.
func TestVectorsOf(t *testing.T) {
	for name, want := range map[string]string{
		"open/mcnemar.jsonl": "mcnemar", "mcnemar.jsonl.gz": "mcnemar", "mcnemar.jsnl": "", "mcnemar.json": "", "mcnemar": "",
	} {
		if metric, ok := vectorsOf(name); ok != (want != "") || ok && metric != want {
			t.Errorf("vectorsOf(%s) = %q, %t, want %q", name, metric, ok, want)
		}
	}
}
