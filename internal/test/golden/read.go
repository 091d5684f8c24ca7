package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ours are the beginnings of the names of cases whose text we wrote or generated.
// All others hold somebody else's text and stay out of the repository.
var ours = []string{
	"edge-", "fuzz-", "syn-", "grid", "hand", "multi-", "order", "lines", "cp", "rec",
	"seed", "zero", "set", "noans",
}

// A selection is the metrics that a test knows.
type selection struct {
	metrics map[string]Metric
	others  []string // the names of those it met and does not know
	file    []string // the names of all metrics in the file that is read
}

// takes reports whether a line is a vector of a metric that is known. Most lines are
// not, and to see that takes no decoding.
func (s *selection) takes(line []byte) bool {
	_, after, _ := bytes.Cut(line, []byte(`"metric"`))
	_, after, _ = bytes.Cut(after, []byte(`"`))
	name, _, _ := bytes.Cut(after, []byte(`"`))
	if !slices.Contains(s.file, string(name)) {
		s.file = append(s.file, string(name))
	}
	if _, ok := s.metrics[string(name)]; ok {
		return true
	}
	if !slices.Contains(s.others, string(name)) {
		s.others = append(s.others, string(name))
	}
	return false
}

// readDir returns the vectors of every file below dir that the selection takes.
func readDir(t *testing.T, dir string, sel *selection) []vector {
	t.Helper()
	var list []vector
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		stem, isVectors := vectorsOf(name)
		switch {
		case d.IsDir() || path.Base(name) == "README.md":
		case !isVectors:
			t.Errorf("%s: %s has no vectors: they are in files METRIC.jsonl or METRIC.jsonl.gz", dir, name)
		default:
			sel.file = nil
			list = append(list, readFile(t, fsys, name, sel)...)
			if !slices.Contains(sel.file, stem) {
				t.Errorf("%s: %s has no vector of a metric %q, but of %q", dir, name, stem, sel.file)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// vectorsOf returns the metric after which a file of vectors is named.
func vectorsOf(name string) (metric string, ok bool) {
	return strings.CutSuffix(strings.TrimSuffix(path.Base(name), ".gz"), ".jsonl")
}

// readFile returns the vectors of one file that the selection takes.
func readFile(t *testing.T, fsys fs.FS, name string, sel *selection) []vector {
	t.Helper()
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(data)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var list []vector
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<26)
	for n := 1; sc.Scan(); n++ {
		if !sel.takes(sc.Bytes()) {
			continue
		}
		v := vector{line: bytes.Clone(sc.Bytes())}
		dec := json.NewDecoder(bytes.NewReader(v.line))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil || v.Metric == "" || len(v.Input) == 0 {
			t.Fatalf("%s:%d: no vector: %v", name, n, err)
		}
		list = append(list, v)
	}
	if err := sc.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return list
}

// update writes the vectors whose text is ours, or all of them, to the testdata of
// the package.
func update(t *testing.T, vectors []vector, all bool) {
	t.Helper()
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range vectors {
		if !all && !isOurs(v.Case) {
			continue
		}
		n++
		if _, err := zw.Write(append(v.line, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(testdata), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(testdata, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d vectors, %d bytes", testdata, n, out.Len())
}

func isOurs(name string) bool {
	return slices.ContainsFunc(ours, func(p string) bool { return strings.HasPrefix(name, p) })
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
		if strings.Contains(string(text), "deem/internal/test/golden") {
			all.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// isTested reports whether a golden test names a metric, or the metric is not computed on
// purpose.
func isTested(tests, metric string) bool {
	if left["metric"][metric] != "" {
		return true
	}
	// A benchmark may make the names of its metrics from the list of its tasks.
	family, _, _ := strings.Cut(metric, "_")
	return strings.Contains(tests, `"`+metric+`"`) || strings.Contains(tests, `metrics["`+family+`_"+task]`)
}
