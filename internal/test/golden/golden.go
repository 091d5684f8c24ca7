// Package golden holds functions to what the programs they port really gave.
//
// A golden vector is one line of JSON: the name of a metric, the name of a case, the
// input, and the value that the reference implementation computed for it. A test
// says which of its functions stands for which metric, and [Test] runs them over
// every vector it can find:
//
//   - testdata/golden.jsonl.gz beside the test, which holds the cases whose text is
//     ours and is always there;
//   - ../shared/golden beside the repository, which holds other people's text too
//     and is not part of it;
//   - every .jsonl and .jsonl.gz file below the folder that the environment variable
//     DEEM_GOLDEN names, absolute or from the root of the repository. A metric in that
//     folder that no golden test knows is an error, and so is any other file.
//
// A file is named after its metric. What is not compared is listed in left.txt, with the
// reason; everything else is.
//
// With DEEM_GOLDEN_UPDATE=1 the first is written anew from the second.
package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A Metric computes the value of one vector from its input. An error stands for an
// exception of the reference. What it returns is compared by type: a number with a
// tolerance, an object by its keys, a list by its places.
type Metric func(input json.RawMessage) (any, error)

// Options say what kind of vectors a test has.
type Options struct {
	// Absolute and Relative are how far a number may lie from that of the reference,
	// the second as a share of it; either suffices. 0 means 1e-12 and nothing. The
	// second is for what goes through a distribution function, where libraries differ
	// in the last digits and tails are smaller than any fixed tolerance.
	Absolute, Relative float64

	// Numeric says that the inputs hold numbers and no text. Nobody owns those, so all
	// of them may be part of the repository.
	Numeric bool
}

// Of returns the metric that decodes its input into an In and calls f. Numbers in
// an interface become [json.Number], which keeps 88 and 88.0 apart.
func Of[In any](f func(In) (any, error)) Metric {
	return func(input json.RawMessage) (any, error) {
		var in In
		dec := json.NewDecoder(bytes.NewReader(input))
		dec.UseNumber()
		if err := dec.Decode(&in); err != nil {
			return nil, inputError{err}
		}
		return f(in)
	}
}

// An inputError says that a vector has another form than the metric takes. It is no
// exception of the reference, which took it.
type inputError struct{ error }

// Skip is what a metric returns for a vector that asks for settings it does not have.
const Skip = skip("skip")

type skip string

// A vector is one line of a golden file.
type vector struct {
	Metric    string          `json:"metric"`
	Case      string          `json:"case"`
	Input     json.RawMessage `json:"input"`
	Expected  any             `json:"expected"`
	Reference string          `json:"reference"`

	line []byte // as it was read
}

// testdata is where the vectors lie that every clone has.
const testdata = "testdata/golden.jsonl.gz"

// Test runs each metric over its vectors, as a test of its own, and says how many
// there were and which reference they come from. It is an error if a metric has no
// vector at all, unless the shared ones are not there.
func Test(t *testing.T, metrics map[string]Metric, o Options) {
	t.Helper()
	var own, shared []vector
	dir := filepath.Join(root(t), "..", "shared", "golden")
	if _, err := os.Stat(dir); err == nil {
		shared = readDir(t, dir, &selection{metrics: metrics})
	} else {
		t.Logf("not there, not tested: %s", dir)
	}
	if os.Getenv("DEEM_GOLDEN_UPDATE") != "" {
		update(t, shared, o.Numeric)
	}
	// A package of whose metrics none has text of ours has no such file.
	if _, err := os.Stat(testdata); !errors.Is(err, fs.ErrNotExist) {
		own = readFile(t, os.DirFS("."), testdata, &selection{metrics: metrics})
	}
	byMetric := map[string][]vector{}
	seen := map[string]bool{} // lines may be in two places
	for _, v := range slices.Concat(own, shared, extraVectors(t, metrics)) {
		if !seen[string(v.line)] {
			seen[string(v.line)] = true
			byMetric[v.Metric] = append(byMetric[v.Metric], v)
		}
	}
	reasons, used, ran := left[packageOf(t)], map[string]bool{}, 0
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		t.Run(name, func(t *testing.T) {
			if len(byMetric[name]) == 0 && len(shared) == 0 {
				t.Skip("../shared is missing, and the vectors of this metric may not be part of the repository")
			}
			ran++
			for _, key := range check(t, metrics[name], byMetric[name], o) {
				if why := reasons[key]; why != "" {
					used[key] = true
					t.Logf("%s is not compared: %s", key, why)
				} else {
					t.Errorf("%s is not compared, and left.txt does not say why", key)
				}
			}
		})
	}
	for key := range reasons {
		if ran == len(metrics) && len(shared) > 0 && !used[key] {
			t.Errorf("left.txt leaves out %s of %s, and no vector has such a field that is not compared", key, packageOf(t))
		}
	}
}

// packageOf returns the folder of the package under test, from the root of the repository.
func packageOf(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(name)
}

// extraVectors returns the vectors that the environment names.
func extraVectors(t *testing.T, metrics map[string]Metric) []vector {
	t.Helper()
	dir := os.Getenv("DEEM_GOLDEN")
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root(t), dir) // A test runs in the folder of its package.
	}
	sel := &selection{metrics: metrics}
	known := readDir(t, dir, sel)
	t.Logf("%s: %d vectors for this package", dir, len(known))
	tests := goldenTests(t)
	for _, metric := range sel.others {
		if !isTested(tests, metric) {
			t.Errorf("%s: no golden test knows the metric %q, so its vectors are not checked", dir, metric)
		}
	}
	return known
}

// root returns the folder that holds go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// check compares one metric with its vectors, and returns the fields that the metric does not
// give.
func check(t *testing.T, metric Metric, vectors []vector, o Options) []string {
	t.Helper()
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	c := comparison{absolute: cmp.Or(o.Absolute, tolerance), relative: o.Relative, missing: map[string]bool{}}
	cases, wrong := 0, 0
	for _, v := range vectors {
		got, err := metric(v.Input)
		if got == Skip {
			continue
		}
		cases++
		problem := c.compare(got, err, v.Expected)
		if problem == "" {
			continue
		}
		if wrong++; wrong <= 10 {
			t.Errorf("%s: %s\n\tinput %.600s", v.Case, problem, v.Input)
		}
	}
	t.Logf("%d cases, %d wrong; %s", cases, wrong, vectors[0].Reference)
	if cases == 0 {
		t.Error("every case was skipped")
	}
	return slices.Sorted(maps.Keys(c.missing))
}
