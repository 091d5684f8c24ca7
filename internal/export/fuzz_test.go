package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"deem"
	"deem/internal/export"
)

// FuzzExport writes records with any texts in every place, in every form. JUnit is well
// formed XML with a case for each item, JSON Lines are JSON, and a CSV or Parquet file that
// is read back says what was judged; in a CSV for spreadsheets no cell begins a formula.
func FuzzExport(f *testing.F) {
	f.Add("q1", "plain", "yes")
	f.Add("]]>", "=1+1", "<b>&\"'")
	f.Add("\x00\x1b[2J\ufffe", "\r\n\"", "+1")
	f.Add("\xff", "a\rb", "-")
	f.Add("@x", "\t=1", "1e5")
	f.Fuzz(func(t *testing.T, id, text, label string) {
		recs := []deem.Record{
			{Item: deem.Item{ID: id, Category: label, Question: text, References: []string{text, id}, Response: text, Fields: map[string]string{"k": text}}, Judge: id, Verdict: &deem.Verdict{Label: label, Reason: text}},
			{Item: deem.Item{ID: id + "2", Response: text}, Position: 1, Judge: id, Failure: &deem.Failure{Kind: deem.Kind(label), Detail: text}},
		}
		checkXML(t, recs)
		checkRows(t, recs)
		var lines bytes.Buffer
		write(t, export.NewJSONL(&lines, export.Run{}), recs)
		for line := range strings.Lines(lines.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("the line %q is not JSON", line)
			}
		}
		if !utf8.ValidString(text) {
			return // What is not UTF-8 is not text of a Parquet file.
		}
		for i, row := range parquetOf(t, recs) {
			if row.Response != text || row.ID != recs[i].Item.ID && utf8.ValidString(id) {
				t.Errorf("row %d of the Parquet file has the response %q of %q, want %q", i, row.Response, row.ID, text)
			}
		}
	})
}

// checkXML reads JUnit XML to its end.
func checkXML(t *testing.T, recs []deem.Record) {
	t.Helper()
	var b bytes.Buffer
	if err := export.JUnit(&b, export.Run{ID: recs[0].Item.ID, Judge: recs[0].Item.Question}, all(recs)); err != nil {
		t.Fatal(err)
	}
	dec, cases := xml.NewDecoder(&b), 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the XML of %+v: %v", recs, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "testcase" {
			cases++
		}
	}
	if cases != len(recs) {
		t.Errorf("%d cases of %d records", cases, len(recs))
	}
}

// checkRows reads CSV back.
func checkRows(t *testing.T, recs []deem.Record) {
	t.Helper()
	for i, row := range csvOf(t, recs, export.CSVOptions{}) {
		// Readers of CSV take a line end of two characters for one.
		if want := strings.ReplaceAll(recs[i].Item.Response, "\r\n", "\n"); row["response"] != want {
			t.Errorf("row %d of the CSV file has the response %q, want %q", i, row["response"], want)
		}
	}
	for _, row := range csvOf(t, recs, export.CSVOptions{Spreadsheet: true}) {
		for name, cell := range row {
			if cell != "" && strings.ContainsRune("=@\t\r", rune(cell[0])) {
				t.Errorf("the cell %s begins a formula: %q", name, cell)
			}
		}
	}
}
