package reports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"deem/benchmark"
	bench "deem/internal/benchmark"
	"deem/internal/benchmark/locomo"
	"deem/internal/reports"
)

// published returns the content of a published file that deem does not ship.
func published(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the published file is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkCategories compares the table of a benchmark with counts in the published files.
func checkCategories(t *testing.T, name string, items, faulty map[string]int) {
	t.Helper()
	b, _ := benchmark.All().Named(name)
	for _, c := range b.Categories {
		if items[c.ID] != c.Items || faulty[c.ID] != c.Faulty {
			t.Errorf("%s: the files have %d items and %d faults, and the table %d and %d", c.ID, items[c.ID], faulty[c.ID], c.Items, c.Faulty)
		}
	}
	if len(items) != len(b.Categories) {
		t.Errorf("the files have %d categories, and the table %d", len(items), len(b.Categories))
	}
}

func TestLoCoMoCategories(t *testing.T) {
	var conversations []struct {
		QA []struct {
			Category int `json:"category"`
		} `json:"qa"`
	}
	if err := json.Unmarshal(published(t, "locomo10/data/locomo10.json"), &conversations); err != nil {
		t.Fatal(err)
	}
	items, faulty := map[string]int{}, map[string]int{}
	for _, c := range conversations {
		for _, q := range c.QA {
			items[strconv.Itoa(q.Category)]++
		}
	}
	const faults = "locomo_audit/errors.json"
	published(t, faults)
	list, err := reports.ReadErrata(t.Context(), filepath.Join("..", "..", "..", "shared", "data", faults), &bench.Benchmark{ItemID: locomo.CanonicalID})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.List {
		if e.Corrupts {
			faulty[e.Category]++
		}
	}
	checkCategories(t, locomo.Name, items, faulty)
}

func TestLongMemEvalCategories(t *testing.T) {
	items := map[string]int{}
	dec := json.NewDecoder(bytes.NewReader(published(t, "lme_questions/derived.jsonl")))
	for {
		var row struct {
			Type string `json:"question_type"`
		}
		err := dec.Decode(&row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		items[row.Type]++
	}
	checkCategories(t, "longmemeval", items, nil)
}
