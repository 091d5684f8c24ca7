package export_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"deem"
	"deem/internal/export"
)

// as writes records in a format.
func as(t *testing.T, format string, recs []deem.Record) []byte {
	t.Helper()
	formats := export.Formats()
	at := slices.IndexFunc(formats, func(f export.Format) bool { return f.Name == format })
	if at < 0 {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	write(t, formats[at].New(&b, run, export.CSVOptions{}), recs)
	return b.Bytes()
}

// traced are the records of TestCSV, the first of an item that was read from a trace.
func traced() []deem.Record {
	recs := records()
	recs[0].Item.ID = "0af7651916cd43dd8448eb211c80319c"
	recs[0].Item.Fields = map[string]string{deem.FieldSpan: "b7ad6b7169203331"}
	return recs
}

// Each JSON format keeps to the shape that its platform documents, in testdata/platforms,
// and has a number only where there was a verdict.
func TestPlatformShapes(t *testing.T) {
	for _, c := range []struct {
		format string
		score  func(doc map[string]any) []any // the scores in their order, nil for none
		want   []any
	}{
		{"langfuse", func(doc map[string]any) []any {
			var list []any
			for _, e := range doc["batch"].([]any) {
				body := e.(map[string]any)["body"].(map[string]any)
				list = append(list, body["name"].(string), body["value"])
			}
			return list
		}, []any{"universal", 1.0, "universal", 0.6, "universal.accuracy", 8.0, "universal.tone", 3.0, "universal.failure", "unparseable", "universal", 0.0}},
		{"phoenix", func(doc map[string]any) []any {
			var list []any
			for _, e := range doc["data"].([]any) {
				a := e.(map[string]any)
				list = append(list, a["name"], a["result"].(map[string]any)["score"])
			}
			return list
		}, []any{"universal", 1.0, "universal", 0.6, "universal.accuracy", 8.0, "universal.tone", 3.0, "universal", nil, "universal", 0.0}},
	} {
		t.Run(c.format, func(t *testing.T) {
			schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "platforms", c.format+".schema.json"))
			if err != nil {
				t.Fatal(err)
			}
			text := as(t, c.format, traced())
			var doc map[string]any
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if err := schema.Validate(doc); err != nil {
				t.Errorf("%v in %s", err, text)
			}
			if diff := cmp.Diff(c.want, c.score(doc)); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
			for _, id := range []string{"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"} {
				if !bytes.Contains(text, []byte(`"`+id+`"`)) {
					t.Errorf("the trace or its span %s is missing", id)
				}
			}
			empty := as(t, c.format, nil)
			if err := json.Unmarshal(empty, &doc); err != nil {
				t.Errorf("%v in %s", err, empty)
			}
		})
	}
}

// A large run is several documents, one on each line, none of them too large for a request.
func TestPlatformBatches(t *testing.T) {
	long := records()[0]
	long.Verdict = &deem.Verdict{Label: "CORRECT", Score: 1, Reason: strings.Repeat("because ", 1<<14)}
	var recs []deem.Record
	for i := range 40 {
		long.Position = i
		recs = append(recs, long)
	}
	ids := map[string]bool{}
	lines := bytes.Split(bytes.TrimSpace(as(t, "langfuse", recs)), []byte("\n"))
	for _, line := range lines {
		var doc struct {
			Batch []struct {
				ID string `json:"id"`
			} `json:"batch"`
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		if len(line) > 3_500_000 || len(doc.Batch) == 0 {
			t.Errorf("a batch has %d bytes and %d scores", len(line), len(doc.Batch))
		}
		for _, e := range doc.Batch {
			ids[e.ID] = true
		}
	}
	if len(ids) != len(recs) || len(lines) < 4 {
		t.Errorf("%d scores of %d in %d lines", len(ids), len(recs), len(lines))
	}
}
