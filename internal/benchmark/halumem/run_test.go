package halumem_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/halumem"
	"deem/judge"
	"deem/model/replay"
)

var update = flag.Bool("update", false, "write the golden files")

const examples = "../../../examples/halumem/"

// open opens results files and closes them when the test ends.
func open(t *testing.T, o halumem.Options) benchmark.Set {
	t.Helper()
	s, err := halumem.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// protocol returns the protocol under a reading.
func protocol(t *testing.T, reading string) *halumem.P {
	t.Helper()
	p, err := halumem.Protocol(reading)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExample judges the example as in its README, and compares the output with a golden
// file for each reading.
func TestExample(t *testing.T) {
	for _, reading := range halumem.Readings() {
		t.Run(reading, func(t *testing.T) {
			m, err := replay.Open(examples + "replies.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, halumem.Options{Data: []string{examples + "tiny_eval_results.jsonl"}, Reading: reading})
			metrics := halumem.NewMetrics(reading)
			calls := 0
			for rec, err := range deem.Run(t.Context(), s.Items(), judge.New(protocol(t, reading), m), deem.Options{Concurrency: 1}) {
				if err != nil {
					t.Fatal(err)
				}
				if rec.Failure != nil {
					t.Errorf("%s: %v", rec.Item.ID, rec.Failure)
				}
				calls += len(rec.Calls)
				metrics.Add(rec)
			}
			// One point is decided without a call, because nothing was
			// extracted or retrieved.
			if want := s.Len() - 1; calls != want {
				t.Errorf("%d calls for %d items, want %d", calls, s.Len(), want)
			}
			var text, stats bytes.Buffer
			if err := metrics.Text(&text); err != nil {
				t.Fatal(err)
			}
			if err := metrics.WriteStats(&stats); err != nil {
				t.Fatal(err)
			}
			golden(t, "example_"+reading+".txt", text.Bytes())
			golden(t, "example_"+reading+".json", stats.Bytes())
		})
	}
}

// golden compares with a file in testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", name, diff)
	}
}

// TestDocument checks that the page about the benchmark explains every metric and every
// place where an answer can go wrong.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../../docs/benchmarks/halumem.md")
	if err != nil {
		t.Fatal(err)
	}
	s := halumem.NewMetrics("").Summary()
	for _, f := range s.Metrics {
		// "likewise `hallucination_`" explains the shares of the other labels.
		prefix, _, _ := strings.Cut(f.Name, "_")
		if !bytes.Contains(page, []byte("`"+f.Name+"`")) && !bytes.Contains(page, []byte("`"+prefix+"_")) {
			t.Errorf("the page does not explain %s", f.Name)
		}
	}
	for _, l := range s.Attribution.Losses {
		if !bytes.Contains(page, []byte("| `"+l.Where+"` |")) {
			t.Errorf("the page does not explain %s", l.Where)
		}
	}
}
