package dataset_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"deem"
	"deem/internal/dataset"
)

// check opens text as a file of the given format. There must be items that can be read
// again, or an error with a position.
func check(t *testing.T, name, format, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{path}, Format: format, Fields: []string{"evidence"}})
	if ps, ok := errors.AsType[*deem.Problems](err); ok {
		checkProblems(t, ps, text)
		return
	}
	if err != nil {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("Open = %q, which does not name the file", err)
		}
		return
	}
	n, ids := 0, map[string]bool{}
	for it, err := range d.Items() {
		if err != nil {
			t.Fatalf("Items: %v", err)
		}
		n++
		ids[it.ID] = true
	}
	if n != d.Len() || len(ids) != n || n == 0 {
		t.Errorf("%d items with %d ids, Len() = %d", n, len(ids), d.Len())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func checkProblems(t *testing.T, ps *deem.Problems, text string) {
	t.Helper()
	if len(ps.List) == 0 || ps.Total < len(ps.List) {
		t.Errorf("%d problems listed of %d", len(ps.List), ps.Total)
	}
	for _, p := range ps.List {
		if lines := strings.Count(text, "\n") + 1; p.Line < 1 || p.Line > lines || p.Message == "" {
			t.Errorf("problem %q of a text of %d lines", p, lines)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add(twoLines)
	f.Add(`{"id":"a","response":"\ud800","references":[null,1.50,"x",{"a":[]}],"fields":{"evidence":{}}}` + "\n\n{}")
	f.Add("\ufeff{\"response\":1e5}\r\n{\"response\":\"\xff\"}")
	f.Add(`{"output":"a","answer":[]} x`)
	f.Fuzz(func(t *testing.T, text string) { check(t, "a.jsonl", "jsonl", text) })
}

func FuzzJSON(f *testing.F) {
	f.Add(twoList)
	f.Add(`{"a":1,"data":[{"response":"r"},{"response":""}]} `)
	f.Add(`[{"response":"r"},]`)
	f.Add(`{"response":` + "\n" + `"r"}{"response":"r"}`)
	f.Add(`{"data":[{"response":"]"`)
	f.Fuzz(func(t *testing.T, text string) { check(t, "a.json", "json", text) })
}

func FuzzCSV(f *testing.F) {
	f.Add(twoCSV)
	f.Add("id,response,\n1,\"a\"\"b\nc\",\n2,x,\"")
	f.Add("response,references,fields\nr,\"[1,2]\",\"{\"\"a\"\":1}\"\r\n")
	f.Add("response,response\n\n")
	f.Fuzz(func(t *testing.T, text string) { check(t, "a.csv", "csv", text) })
}

// FuzzAny detects the format from the first bytes.
func FuzzAny(f *testing.F) {
	f.Add(twoTSV)
	f.Add(gzipped(f, twoLines))
	f.Add(zstandard(f, twoCSV))
	f.Add("PAR1")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\x28\xb5\x2f\xfd") {
			text += strings.Repeat("\n", 100) // lines are counted in what is packed
		}
		check(t, "a", "", text)
	})
}

func FuzzMapping(f *testing.F) {
	f.Add("question=q,references=answer,response=output,field.evidence=ev")
	f.Add(`response="a,b", id = x.y.0 ,`)
	f.Add("fields.a=b,reference=\"\\u00e9\"")
	f.Add("=,=")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := dataset.ParseMapping(s)
		if err != nil {
			return
		}
		again, err := dataset.ParseMapping(m.String())
		if err != nil || again.String() != m.String() || len(again) != len(m) {
			t.Errorf("ParseMapping(%q).String() = %q, which reads as %q, %v", s, m, again, err)
		}
	})
}

// FuzzParquet corrupts files with columns of many forms. There must be items or an error,
// and memory use must be in proportion to the file.
func FuzzParquet(f *testing.F) {
	text := func(s string) *string { return &s }
	rows := []parquetItem{
		{ID: text("a"), Question: text("q"), References: []string{"x", "y"}, Response: "r1", Fields: map[string]string{"evidence": "v"}, Haystack: []string{"a", "b"}},
		{ID: text("b"), Category: text("c"), Response: strings.Repeat("long ", 50)},
	}
	f.Add(parquetOf(f, rows))
	f.Add(parquetOf(f, rows, parquet.DataPageVersion(1), parquet.PageBufferSize(1)))
	f.Add(parquetOf(f, rows, parquet.MaxRowsPerRowGroup(1)))
	type plain struct {
		Response string `parquet:"response"`
		Answer   int64  `parquet:"answer,delta"`
		Weight   float32
	}
	f.Add(parquetOf(f, []plain{{"r", 1, 2}, {"s", -1, 0.5}}))
	f.Fuzz(func(t *testing.T, text string) { check(t, "a.parquet", "parquet", text) })
}

// FuzzPieces checks that a file from standard input gives the same items, or the same
// error, however the bytes arrive.
func FuzzPieces(f *testing.F) {
	for _, text := range []string{twoLines, twoList, twoCSV, twoTSV, "\ufeff" + twoLines, "{\"response\":\"\xff\"}", "response\r\n\"a\"\"\r\nb\"\r\n", `{"a":[{"response":"r"}]}`} {
		f.Add(text)
	}
	f.Add(gzipped(f, twoLines))
	f.Add(zstandard(f, twoList))
	f.Fuzz(func(t *testing.T, text string) {
		whole := outcome(t, strings.NewReader(text))
		for name, r := range map[string]io.Reader{
			"bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			if got := outcome(t, r); got != whole {
				t.Errorf("%q as %s: %s\nwhole: %s", text, name, got, whole)
			}
		}
	})
}

// outcome returns the result of a text from standard input: the hash of its items, or the
// error.
func outcome(t *testing.T, r io.Reader) string {
	t.Helper()
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: r})
	if err != nil {
		return err.Error()
	}
	defer d.Close() //nolint:errcheck // It was only read.
	return fmt.Sprintf("%d items, %s, %q", d.Len(), d.Hash(), d.Notes())
}
