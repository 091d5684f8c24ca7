package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/dataset"
	"deem/internal/export"
)

var run = export.Run{
	ID: "20261115-9f3a2c", Judge: "universal", JudgeHash: strings.Repeat("4f0c2a91", 8), Model: "openai:gpt-4o-mini",
	Dataset: "answers.jsonl", DatasetHash: strings.Repeat("9b1c", 16), Trials: 1,
	Created: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC), Software: "deem v0.0.0-test",
}

// records are one of each kind: right, wrong, unjudged, with all there is and with
// nothing.
func records() []deem.Record {
	pass, sure := false, 0.75
	return []deem.Record{
		{
			Item:     deem.Item{ID: "q1", Category: "temporal", Cluster: "c1", Question: "How long?", References: []string{"7 years", `seven "long" years`}, Response: "7, I think\nyes", Weight: 2},
			Position: 0, Judge: "universal", Verdict: &deem.Verdict{Label: "CORRECT", Score: 1, Reason: "same"},
			Calls: []deem.Call{
				{Model: "openai:gpt-4o-mini", Request: "ab", Error: "HTTP 500", Attempts: 3},
				{Model: "openai:gpt-4o-mini", Request: "ab", Reply: &deem.Reply{
					Text: "CORRECT", Stop: deem.StopEnd, Model: "gpt-4o-mini-2024-07-18", Fingerprint: "fp_1", Attempts: 1,
					Usage: deem.Usage{Input: 100, Output: 2}, CostMicros: 17, Latency: 250 * time.Millisecond,
				}},
			},
		},
		{
			Item: deem.Item{ID: "q2", Category: "a|b <i>", Question: "=1+1", References: []string{"2"}, Response: "=cmd|' /C calc'!A0", Fields: map[string]string{"evidence": "s1, s2"}, Messages: deem.Conversation{
				{Role: "user", Name: "Ada", Content: "=1+1"},
				{Role: "assistant", ToolCalls: []deem.ToolCall{{ID: "c1", Type: "function", Function: deem.Function{Name: "add", Arguments: `{"a":1}`}}}},
				{Role: "tool", ToolCallID: "c1", Content: "2"},
			}},
			Position: 1, Judge: "universal", Verdict: &deem.Verdict{Label: "fail", Score: 0.6, Pass: &pass, Aspects: map[string]float64{"tone": 3, "accuracy": 8}, Confidence: &sure},
			Calls: []deem.Call{{Model: "openai:gpt-4o-mini", Reply: &deem.Reply{Text: "INCORRECT", Cached: true, CostMicros: 99, Latency: time.Hour}}},
		},
		{
			Item:     deem.Item{ID: "q3", Response: ""},
			Position: 2, Judge: "universal", Failure: deem.Failf(deem.Unparseable, "the reply says nothing: %s", "\x00 <hm>"),
		},
		{
			Item:     deem.Item{ID: "q4", Response: "-5", References: []string{"-5"}},
			Position: 3, Judge: "universal", Verdict: &deem.Verdict{Label: "INCORRECT"},
		},
	}
}

func write(t testing.TB, w export.Writer, recs []deem.Record) {
	t.Helper()
	for _, rec := range recs {
		if err := w.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func csvOf(t testing.TB, recs []deem.Record, o export.CSVOptions) []map[string]string {
	t.Helper()
	var b bytes.Buffer
	write(t, export.NewCSV(&b, run, o), recs)
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(export.Columns(), rows[0]); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
		}
		list = append(list, m)
	}
	return list
}

func TestCSV(t *testing.T) {
	rows := csvOf(t, records(), export.CSVOptions{})
	want := []map[string]string{
		{
			"id": "q1", "position": "0", "weight": "2", "references": `["7 years","seven \"long\" years"]`, "response": "7, I think\nyes",
			"label": "CORRECT", "score": "1", "pass": "", "failure": "", "reason": "same", "reply": "CORRECT",
			"call_count": "2", "attempts": "4", "judge_cost_micros": "17", "judge_latency_ms": "250", "judge_input_tokens": "100",
			"model_reported": "gpt-4o-mini-2024-07-18", "fingerprint": "fp_1", "item_hash": records()[0].Item.Hash(),
		},
		{
			"id": "q2", "question": "=1+1", "response": "=cmd|' /C calc'!A0", "label": "fail", "score": "0.6", "pass": "false", "confidence": "0.75",
			"aspects": `{"accuracy":8,"tone":3}`, "fields": `{"evidence":"s1, s2"}`, "cached_count": "1", "judge_cost_micros": "0", "judge_latency_ms": "0",
		},
		{"id": "q3", "label": "", "score": "", "failure": "unparseable", "failure_detail": "the reply says nothing: \x00 <hm>", "weight": "", "reply": ""},
		{"id": "q4", "response": "-5", "score": "0", "label": "INCORRECT", "failure": ""},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i := range want {
		for name, cell := range want[i] {
			if rows[i][name] != cell {
				t.Errorf("row %d: %s = %q, want %q", i, name, rows[i][name], cell)
			}
		}
	}
}

// A file for spreadsheets has no cell that is a formula, and numbers stay numbers.
func TestCSVForSpreadsheets(t *testing.T) {
	recs := records()
	recs[2].Item.Question, recs[2].Item.ID = "@SUM(A1)", "\t=1"
	rows := csvOf(t, recs, export.CSVOptions{Spreadsheet: true})
	for _, c := range []struct {
		row  int
		name string
		want string
	}{
		{1, "question", "'=1+1"},
		{1, "response", "'=cmd|' /C calc'!A0"},
		{2, "question", "'@SUM(A1)"},
		{2, "id", "'\t=1"},
		{3, "response", "-5"},
		{0, "response", "7, I think\nyes"},
	} {
		if got := rows[c.row][c.name]; got != c.want {
			t.Errorf("row %d: %s = %q, want %q", c.row, c.name, got, c.want)
		}
	}
}

// A run without records is a file without rows, and no broken file.
func TestEmpty(t *testing.T) {
	if rows := csvOf(t, nil, export.CSVOptions{}); len(rows) != 0 {
		t.Errorf("CSV has %d rows, want 0", len(rows))
	}
	if rows := parquetOf(t, nil); len(rows) != 0 {
		t.Errorf("Parquet has %d rows, want 0", len(rows))
	}
	if suites := junitOf(t, nil); suites.Tests != 0 || len(suites.Suites) != 1 {
		t.Errorf("JUnit has %d tests in %d suites, want 0 in 1", suites.Tests, len(suites.Suites))
	}
}

func TestJSONL(t *testing.T) {
	var b bytes.Buffer
	recs := records()
	write(t, export.NewJSONL(&b, run), recs)
	dec := json.NewDecoder(&b)
	for i, rec := range recs {
		var got struct {
			export.Row
			Calls []deem.Call `json:"calls"`
		}
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run.Of(rec), got.Row); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(rec.Calls, got.Calls, equalEmpty); diff != "" {
			t.Errorf("line %d: calls (-want +got):\n%s", i, diff)
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("more lines than records: %v", err)
	}
}

var equalEmpty = cmp.FilterValues(func(a, b []deem.Call) bool { return len(a) == 0 && len(b) == 0 }, cmp.Comparer(func(a, b []deem.Call) bool { return true }))

// A line has every key, so that programs need not guess: a score that is not there is
// null and not 0.
func TestJSONLIsExplicit(t *testing.T) {
	var b bytes.Buffer
	write(t, export.NewJSONL(&b, run), records()[2:3])
	var line map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for _, name := range export.Columns() {
		if _, ok := line[name]; !ok {
			t.Errorf("the line has no %q", name)
		}
	}
	if len(line) != len(export.Columns())+1 {
		t.Errorf("the line has %d keys, want the columns and calls", len(line))
	}
	for name, want := range map[string]string{"score": "null", "label": "null", "weight": "null", "references": "[]", "calls": "[]", "failure": `"unparseable"`} {
		if got := string(line[name]); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

func parquetOf(t testing.TB, recs []deem.Record) []export.Row {
	t.Helper()
	var b bytes.Buffer
	write(t, export.NewParquet(&b, run), recs)
	rows, err := parquet.Read[export.Row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestParquet(t *testing.T) {
	recs := records()
	rows := parquetOf(t, recs)
	if len(rows) != len(recs) {
		t.Fatalf("%d rows, want %d", len(rows), len(recs))
	}
	for i, rec := range recs {
		if diff := cmp.Diff(run.Of(rec), rows[i], noEmpty); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
}

// Criteria are a list of groups, one of whose members may be missing.
func TestParquetParts(t *testing.T) {
	half := 0.5
	rec := deem.Record{
		Item: deem.Item{ID: "q1"},
		Verdict: &deem.Verdict{Label: "x", Parts: []deem.Part{
			{Name: "names the town", Label: "met", Score: &half, Reason: "it does"},
			{Name: "gives the year", Failure: deem.Failf(deem.Empty, "nothing")},
		}},
	}
	rows := parquetOf(t, []deem.Record{rec, {Item: deem.Item{ID: "q2"}, Verdict: &deem.Verdict{}}})
	if diff := cmp.Diff(run.Of(rec).Parts, rows[0].Parts); diff != "" || len(rows[1].Parts) != 0 {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

var noEmpty = cmp.Options{
	cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b map[string]string) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
	cmp.FilterValues(func(a, b map[string]float64) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
}

// The names of the columns are the same in all forms, and the document explains each.
func TestColumns(t *testing.T) {
	rt := reflect.TypeFor[export.Row]()
	var inJSON, inParquet []string
	for i := range rt.NumField() {
		inJSON = append(inJSON, rt.Field(i).Tag.Get("json"))
		name, _, _ := strings.Cut(rt.Field(i).Tag.Get("parquet"), ",")
		inParquet = append(inParquet, name)
	}
	if diff := cmp.Diff(export.Columns(), inJSON); diff != "" {
		t.Errorf("columns in CSV and JSON (-CSV +JSON):\n%s", diff)
	}
	if diff := cmp.Diff(export.Columns(), inParquet); diff != "" {
		t.Errorf("columns in CSV and Parquet (-CSV +Parquet):\n%s", diff)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "export.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "## Columns")
	section, _, _ = strings.Cut(section, "\n## ")
	var inDoc []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)`").FindAllStringSubmatch(section, -1) {
		inDoc = append(inDoc, m[1])
	}
	if diff := cmp.Diff(export.Columns(), inDoc); diff != "" {
		t.Errorf("columns in the document (-columns +document):\n%s", diff)
	}
}

type (
	xmlSuites struct {
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suites   []xmlSuite `xml:"testsuite"`
	}
	xmlSuite struct {
		Tests      int           `xml:"tests,attr"`
		Failures   int           `xml:"failures,attr"`
		Errors     int           `xml:"errors,attr"`
		Time       string        `xml:"time,attr"`
		Properties []xmlProperty `xml:"properties>property"`
		Cases      []xmlCase     `xml:"testcase"`
	}
	xmlProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	xmlCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Failure *xmlOutcome `xml:"failure"`
		Error   *xmlOutcome `xml:"error"`
	}
	xmlOutcome struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func all(recs []deem.Record) func() iter.Seq2[deem.Record, error] {
	return func() iter.Seq2[deem.Record, error] {
		return func(yield func(deem.Record, error) bool) {
			for _, rec := range recs {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

func junitOf(t testing.TB, recs []deem.Record) xmlSuites {
	t.Helper()
	var b bytes.Buffer
	if err := export.JUnit(&b, run, all(recs)); err != nil {
		t.Fatal(err)
	}
	var got xmlSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return got
}

func TestJUnit(t *testing.T) {
	recs := records()
	again := recs[0]
	again.Trial, again.Verdict = 1, &deem.Verdict{Label: "INCORRECT"}
	got := junitOf(t, slices.Insert(recs, 1, again)) // Only trial 0 is a test.
	suite := got.Suites[0]
	if got.Tests != 4 || got.Failures != 2 || got.Errors != 1 || suite.Tests != 4 || suite.Failures != 2 || suite.Errors != 1 || suite.Time != "0.250" {
		t.Errorf("counts %+v, want 4 tests, 2 failures and 1 error in 0.250 s", got)
	}
	for _, p := range []xmlProperty{{"judge_hash", run.JudgeHash}, {"run", run.ID}, {"model", run.Model}, {"software", run.Software}} {
		if !slices.Contains(suite.Properties, p) {
			t.Errorf("there is no property %+v", p)
		}
	}
	want := []xmlCase{
		{Class: "temporal", Name: "q1"},
		{Class: "a|b <i>", Name: "q2", Failure: &xmlOutcome{"not_passed", "fail, score 0.6", "question: =1+1\nreference: 2\nresponse: =cmd|' /C calc'!A0"}},
		{Class: "universal", Name: "q3", Error: &xmlOutcome{"unparseable", "unjudged: unparseable: the reply says nothing: \ufffd <hm>", "response: "}},
		{Class: "universal", Name: "q4", Failure: &xmlOutcome{"not_passed", "INCORRECT, score 0", "reference: -5\nresponse: -5"}},
	}
	if diff := cmp.Diff(want, suite.Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
}

// A run that goes on while it is written must not leave a file with wrong counts.
func TestJUnitOfAChangingRun(t *testing.T) {
	pass := 0
	changing := func() iter.Seq2[deem.Record, error] {
		pass++
		return all(records()[:pass])()
	}
	if err := export.JUnit(io.Discard, run, changing); !errors.Is(err, export.ErrChanged) {
		t.Errorf("error %v, want ErrChanged", err)
	}
}

var errBroken = errors.New("broken")

// failing is a writer that takes n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// A disk that is full is an error in every form.
func TestWriteErrors(t *testing.T) {
	many := slices.Repeat(records(), 500)
	for name, make := range map[string]func(w io.Writer) export.Writer{
		"csv":     func(w io.Writer) export.Writer { return export.NewCSV(w, run, export.CSVOptions{}) },
		"jsonl":   func(w io.Writer) export.Writer { return export.NewJSONL(w, run) },
		"parquet": func(w io.Writer) export.Writer { return export.NewParquet(w, run) },
	} {
		w := make(&failing{n: 100})
		var err error
		for _, rec := range many {
			err = errors.Join(err, w.Add(rec))
		}
		if err = errors.Join(err, w.Close()); !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v, want that of the disk", name, err)
		}
	}
	if err := export.JUnit(&failing{n: 100}, run, all(many)); !errors.Is(err, errBroken) {
		t.Errorf("junit: error %v, want that of the disk", err)
	}
	ended := func() iter.Seq2[deem.Record, error] {
		return func(yield func(deem.Record, error) bool) { yield(deem.Record{}, errBroken) }
	}
	if err := export.JUnit(io.Discard, run, ended); !errors.Is(err, errBroken) {
		t.Errorf("junit: error %v, want that of the store", err)
	}
}

// What was written can be judged again: the three forms of rows hold the same items.
func TestItemsComeBack(t *testing.T) {
	var want []string
	recs := records()
	for i := range recs {
		recs[i].Item.Fields = nil                     // A reader takes fields only where a judge wants them.
		recs[i].Item.Response += "x"                  // An empty response is none in CSV.
		recs[i].Item.References = []string{"a", "b"}  // One reference in CSV is a text of its own.
		recs[i].Item.Question = strconv.Itoa(i) + "?" // Nor is an empty question one.
		want = append(want, recs[i].Item.Hash())
	}
	for name, make := range map[string]func(w io.Writer) export.Writer{
		"rows.csv":     func(w io.Writer) export.Writer { return export.NewCSV(w, run, export.CSVOptions{}) },
		"rows.jsonl":   func(w io.Writer) export.Writer { return export.NewJSONL(w, run) },
		"rows.parquet": func(w io.Writer) export.Writer { return export.NewParquet(w, run) },
	} {
		var b bytes.Buffer
		write(t, make(&b), recs)
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Open(t.Context(), dataset.Source{Names: []string{file}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for it, err := range set.Items() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, it.Hash())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: hashes of items (-want +got):\n%s", name, diff)
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}
}

// anyRecord makes records with hostile texts.
func anyRecord() *rapid.Generator[deem.Record] {
	text := rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\"',;|\n\r\t=<>&]\\\u2028\ufeff"))), 0, 20, -1)
	return rapid.Custom(func(t *rapid.T) deem.Record {
		rec := deem.Record{
			Item: deem.Item{
				ID: text.Draw(t, "id"), Category: text.Draw(t, "category"), Question: text.Draw(t, "question"),
				References: rapid.SliceOfN(text, 0, 3).Draw(t, "references"), Response: text.Draw(t, "response"),
				Fields: rapid.MapOfN(text, text, 0, 3).Draw(t, "fields"),
			},
			Position: rapid.IntRange(0, 1e6).Draw(t, "position"), Judge: "j",
		}
		if rapid.Bool().Draw(t, "judged") {
			rec.Verdict = &deem.Verdict{Label: text.Draw(t, "label"), Score: rapid.Float64Range(0, 1).Draw(t, "score"), Reason: text.Draw(t, "reason")}
		} else {
			rec.Failure = deem.Failf(deem.Refused, "%s", text.Draw(t, "detail"))
		}
		return rec
	})
}

// Whatever texts hold, every form gives them back, or for XML says that it cannot. A
// Parquet file takes long to open, so there are few files with many records.
func TestTextsSurvive(t *testing.T) {
	for seed := range 5 {
		recs := rapid.SliceOfN(anyRecord(), 40, 40).Example(seed)
		rows, cells, errors := parquetOf(t, recs), csvOf(t, recs, export.CSVOptions{}), 0
		for i, rec := range recs {
			if diff := cmp.Diff(run.Of(rec), rows[i], noEmpty); diff != "" {
				t.Errorf("Parquet (-want +got):\n%s", diff)
			}
			for name, in := range map[string]string{"id": rec.Item.ID, "question": rec.Item.Question, "response": rec.Item.Response} {
				// Go's reader takes the first of two line-end characters away; others do not.
				if got := cells[i][name]; got != strings.ReplaceAll(in, "\r\n", "\n") {
					t.Errorf("CSV: %s = %q, want %q", name, got, in)
				}
			}
			if rec.Failure != nil {
				errors++
			}
		}
		if got := junitOf(t, recs); got.Tests != len(recs) || got.Errors != errors {
			t.Errorf("JUnit has %d tests and %d errors, want %d and %d", got.Tests, got.Errors, len(recs), errors)
		}
	}
}

// Rows do not pile up in memory: long ones are written in groups.
func TestParquetGroups(t *testing.T) {
	var b bytes.Buffer
	rec := records()[0]
	rec.Item.Response = strings.Repeat("long ", 400_000) // About 2 MB.
	unhashed := run
	unhashed.Redacted = true // Hashing long texts takes long, and is not what this is about.
	w := export.NewParquet(&b, unhashed)
	for i := range 12 {
		rec.Position = i
		if err := w.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 2 || f.NumRows() != 12 {
		t.Errorf("%d rows in %d groups, want 12 in 2", f.NumRows(), n)
	}
	if v, ok := f.Lookup("deem.judge_hash"); !ok || v != run.JudgeHash {
		t.Errorf("the file says judge hash %q, want %q", v, run.JudgeHash)
	}
}

func TestRedactedHasNoHash(t *testing.T) {
	redacted := run
	redacted.Redacted = true
	if got := redacted.Of(records()[0]).ItemHash; got != "" {
		t.Errorf("item_hash = %q of texts that are not there, want none", got)
	}
}

func BenchmarkExport(b *testing.B) {
	recs := slices.Repeat(records(), 2500)
	for name, make := range map[string]func(w io.Writer) export.Writer{
		"csv":     func(w io.Writer) export.Writer { return export.NewCSV(w, run, export.CSVOptions{}) },
		"jsonl":   func(w io.Writer) export.Writer { return export.NewJSONL(w, run) },
		"parquet": func(w io.Writer) export.Writer { return export.NewParquet(w, run) },
	} {
		b.Run(fmt.Sprintf("%s/%d", name, len(recs)), func(b *testing.B) {
			for b.Loop() {
				write(b, make(io.Discard), recs)
			}
		})
	}
}
