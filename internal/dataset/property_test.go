package dataset_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/dataset"
)

// drawItems draws items that every format can represent: a table cannot distinguish an
// empty field from a missing one, nor a text that looks like a JSON list from that list.
func drawItems(t *rapid.T) []deem.Item {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "a", "a,b", "\"", "\"\"", "x\r\ny\nz\r", "\t", "\x00", "é😀", "\u2028<&>", "'it''s'", " padded ", "{question}", "NaN", "null",
	}))
	filled := text.Filter(func(s string) bool { return s != "" && s[0] != '[' })
	n := rapid.IntRange(1, 6).Draw(t, "n")
	withQuestion := rapid.Bool().Draw(t, "with question")
	var list []deem.Item
	for i := range n {
		it := deem.Item{
			ID:       fmt.Sprintf("%d%s", i, text.Draw(t, "id")),
			Category: text.Draw(t, "category"),
			Cluster:  text.Draw(t, "cluster"),
			Response: text.Draw(t, "response"),
		}
		if withQuestion {
			it.Question = text.Draw(t, "question")
		}
		if k := rapid.IntRange(0, 3).Draw(t, "references"); k != 1 { // a list of one is written as its text
			it.References = rapid.SliceOfN(filled, k, k).Draw(t, "list")
		} else {
			it.References = []string{filled.Filter(notAList).Draw(t, "reference")}
		}
		if len(it.References) == 0 {
			it.References = nil
		}
		if rapid.Bool().Draw(t, "weighted") {
			it.Weight = float64(rapid.IntRange(1, 1000).Draw(t, "weight")) / 8
		}
		if rapid.Bool().Draw(t, "with field") {
			it.Fields = map[string]string{"evidence": filled.Draw(t, "evidence")}
		}
		list = append(list, it)
	}
	return list
}

func notAList(s string) bool { return !strings.HasPrefix(strings.TrimSpace(s), "[") }

// asJSON writes one item; a single reference is written as a text.
func asJSON(it deem.Item, indent string) string {
	m := map[string]any{"id": it.ID, "category": it.Category, "cluster": it.Cluster, "question": it.Question, "response": it.Response}
	switch len(it.References) {
	case 0:
	case 1:
		m["references"] = it.References[0]
	default:
		m["references"] = it.References
	}
	if it.Weight != 0 {
		m["weight"] = it.Weight
	}
	if it.Fields != nil {
		m["fields"] = it.Fields
	}
	b, err := json.MarshalIndent(m, "", indent)
	if indent == "" {
		b, err = json.Marshal(m)
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

// asTable writes items as CSV or TSV with every cell in quotes.
func asTable(list []deem.Item, comma string) string {
	var b strings.Builder
	line := func(cells ...string) {
		for i, c := range cells {
			cells[i] = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		b.WriteString(strings.Join(cells, comma) + "\n")
	}
	line("id", "category", "cluster", "question", "references", "response", "weight", "fields.evidence")
	for _, it := range list {
		refs := strings.Join(it.References, "")
		if len(it.References) > 1 {
			raw, err := json.Marshal(it.References)
			if err != nil {
				panic(err)
			}
			refs = string(raw)
		}
		weight := ""
		if it.Weight != 0 {
			weight = fmt.Sprint(it.Weight)
		}
		line(it.ID, it.Category, it.Cluster, it.Question, refs, it.Response, weight, it.Fields["evidence"])
	}
	return b.String()
}

// rowsOf returns items as rows of a Parquet file. A single reference is a list of one
// there, so such items are drawn again with two.
func rowsOf(list []deem.Item) []parquetItem {
	var rows []parquetItem
	for _, it := range list {
		row := parquetItem{ID: &it.ID, Category: &it.Category, Cluster: &it.Cluster, Question: &it.Question, References: it.References, Response: it.Response, Fields: it.Fields}
		if it.Weight != 0 {
			row.Weight = &it.Weight
		}
		rows = append(rows, row)
	}
	return rows
}

// TestSameItemsInEveryFormat writes items in all formats and reads them back: the
// same items, and the same hash.
func TestSameItemsInEveryFormat(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		want := drawItems(rt)
		var lines, pretty []string
		for _, it := range want {
			lines = append(lines, asJSON(it, ""))
			pretty = append(pretty, asJSON(it, "  "))
		}
		jsonl := strings.Join(lines, "\n")
		texts := map[string]string{
			"a.jsonl": jsonl, "a.jsonl.gz": gzipped(t, jsonl), "a.jsonl.zst": zstandard(t, jsonl),
			"a.json": "[" + strings.Join(pretty, ",\n") + "]",
			"b.json": `{"items": [` + strings.Join(lines, ",") + `]}`,
			"a.csv":  asTable(want, ","),
			"a.tsv":  asTable(want, "\t"),
		}
		if !slices.ContainsFunc(want, func(it deem.Item) bool { return len(it.References) == 1 }) {
			texts["a.parquet"] = parquetOf(t, rowsOf(want))
		}
		hashes := map[string]string{}
		for name, text := range texts {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
			d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{path}})
			if err != nil {
				rt.Fatalf("Open(%s): %v\n%s", name, err, text)
			}
			var got []deem.Item
			for it, err := range d.Items() {
				if err != nil {
					rt.Fatalf("Items of %s: %v", name, err)
				}
				got = append(got, it)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("items of %s (-want +got):\n%s", name, diff)
			}
			hashes[d.Hash()] = name
			if err := d.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		if len(hashes) != 1 {
			rt.Fatalf("the formats have different hashes: %v", hashes)
		}
	})
}
