package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"deem"
	"deem/internal/dataset"
)

// write puts text into a file of the given name in a new folder.
func write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// open opens a dataset that must be right, and closes it with the test.
func open(tb testing.TB, src dataset.Source) *dataset.Dataset {
	tb.Helper()
	d, err := dataset.Open(tb.Context(), src)
	if err != nil {
		tb.Fatalf("Open(%v): %v", src.Names, err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return d
}

// all returns the items of a dataset.
func all(tb testing.TB, d *dataset.Dataset) []deem.Item {
	tb.Helper()
	var items []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			tb.Fatalf("Items: %v", err)
		}
		items = append(items, it)
	}
	return items
}

// items reads a text as a file of the given name.
func items(tb testing.TB, name, text string, src dataset.Source) []deem.Item {
	tb.Helper()
	src.Names = []string{write(tb, name, text)}
	return all(tb, open(tb, src))
}

func gzipped(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func zstandard(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// two are the items that every text of TestFormats holds.
var two = []deem.Item{
	{ID: "q1", Category: "c", Question: "Where?", References: []string{"Oslo", "oslo"}, Response: "In \"Oslo\",\r\nNorway"},
	{ID: "q2", Category: "c", Question: "When?", References: []string{"1999"}, Response: ""},
}

const (
	twoLines = `{"id":"q1","category":"c","question":"Where?","references":["Oslo","oslo"],"response":"In \"Oslo\",\r\nNorway"}` + "\n" +
		`{"id":"q2","category":"c","question":"When?","references":"1999","response":""}` + "\n"
	twoList = `[
  {"id": "q1", "category": "c", "question": "Where?",
   "references": ["Oslo", "oslo"], "response": "In \"Oslo\",\r\nNorway"},
  {"id": "q2", "category": "c", "question": "When?", "references": "1999", "response": ""}
]
`
	twoCSV = "id,category,question,references,response\n" +
		`q1,c,Where?,"[""Oslo"", ""oslo""]","In ""Oslo"",` + "\r\n" + `Norway"` + "\n" +
		"q2,c,When?,1999,\n"
	twoTSV = "id\tcategory\tquestion\treferences\tresponse\n" +
		"q1\tc\tWhere?\t[\"Oslo\", \"oslo\"]\t\"In \"\"Oslo\"\",\r\nNorway\"\n" +
		"q2\tc\tWhen?\t1999\t\n"
)

// Ids that begin with the name of a conversation name the cluster of rows without one.
func TestClusterByID(t *testing.T) {
	for _, tt := range []struct{ text, want, note string }{
		{`{"id":"conv-0:122","response":"r"}` + "\n" + `{"id":"conv-26_q4","response":"r"}` + "\n" + `{"id":"q4","response":"r"}`, "conv-0,conv-26,", "taking clusters from 2 of 3 ids, as conv-0 from conv-0:122"},
		{`{"id":"conv-0:122","conv_id":"a","response":"r"}` + "\n" + `{"id":"conv-0:123","response":"r"}`, "a,conv-0", "taking clusters from 1 of 2 ids, as conv-0 from conv-0:123"},
		{`{"id":"gpt4_2655b836","response":"r"}` + "\n" + `{"id":"conv_x","response":"r"}`, ",", ""},
	} {
		d := open(t, dataset.Source{Names: []string{write(t, "a.jsonl", tt.text)}})
		var got []string
		for it, err := range d.Items() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, it.Cluster)
		}
		if strings.Join(got, ",") != tt.want {
			t.Errorf("%s: clusters %q, want %q", tt.text, got, tt.want)
		}
		if notes := strings.Join(d.Notes(), "; "); !strings.Contains(notes, tt.note) || tt.note == "" && strings.Contains(notes, "clusters") {
			t.Errorf("%s: notes %q, want %q", tt.text, notes, tt.note)
		}
	}
}

func TestFormats(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	tests := []struct {
		title, name, text, format string
	}{
		{"lines", "a.jsonl", twoLines, ""},
		{"lines without the last line end", "a.jsonl", strings.TrimSuffix(twoLines, "\n"), ""},
		{"lines with CRLF", "a.jsonl", crlf(twoLines), ""},
		{"lines with a byte order mark", "a.jsonl", "\ufeff" + twoLines, ""},
		{"blank lines", "a.jsonl", "\n \t\n" + strings.ReplaceAll(twoLines, "\n", "\n\r\n\n"), ""},
		{"lines called json", "a.json", twoLines, ""},
		{"lines called ndjson", "A.NDJSON", twoLines, ""},
		{"lines without a name", "a", twoLines, ""},
		{"a list", "a.json", twoList, ""},
		{"a list with a byte order mark", "a.json", "\ufeff" + twoList, ""},
		{"a list called jsonl", "a.jsonl", twoList, ""},
		{"a list without a name", "a", twoList, ""},
		{"a list in one line", "a.json", "[" + strings.ReplaceAll(strings.TrimSpace(twoLines), "\n", ",") + "]", ""},
		{"a list in an object", "a.json", `{"model": "m-1", "scores": [1, 2], "data": ` + twoList + `, "n": 2}`, ""},
		{"a list in an object in one line", "a.json", `{"results":[` + strings.ReplaceAll(strings.TrimSpace(twoLines), "\n", ",") + `]}`, ""},
		{"objects over several lines", "a.json", strings.Trim(strings.ReplaceAll(twoList, "},", "}\n"), "[]\n"), ""},
		{"csv", "a.csv", twoCSV, ""},
		{"csv with a byte order mark", "a.csv", "\ufeff" + twoCSV, ""},
		{"csv without a name", "a", twoCSV, ""},
		{"csv with semicolons", "a.csv", "id;category;question;references;response\n" + "q1;c;Where?;\"[\"\"Oslo\"\",\"\"oslo\"\"]\";\"In \"\"Oslo\"\",\r\nNorway\"\nq2;c;When?;1999;\n", ""},
		{"csv with an index and blank lines", "a.csv", ",id,category,question,references,response\n\n" + "0,q1,c,Where?,\"[\"\"Oslo\"\",\"\"oslo\"\"]\",\"In \"\"Oslo\"\",\r\nNorway\"\n\n1,q2,c,When?,1999,\n", ""},
		{"tsv", "a.tsv", twoTSV, ""},
		{"tsv without a name", "a", twoTSV, ""},
		{"lines by order", "a.txt", twoLines, "jsonl"},
		{"csv by order", "a.jsonl", twoCSV, "csv"},
	}
	want := open(t, dataset.Source{Names: []string{write(t, "want.jsonl", twoLines)}}).Hash()
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			packed := map[string]string{
				tt.name:          tt.text,
				tt.name + ".gz":  gzipped(t, tt.text),
				tt.name + ".zst": zstandard(t, tt.text),
				"nameless":       gzipped(t, tt.text), // the magic bytes tell
			}
			for name, text := range packed {
				if name == "nameless" && filepath.Ext(tt.name) != "" {
					continue
				}
				d := open(t, dataset.Source{Names: []string{write(t, name, text)}, Format: tt.format})
				if diff := cmp.Diff(two, all(t, d)); diff != "" {
					t.Errorf("items of %s (-want +got):\n%s", name, diff)
				}
				if d.Hash() != want {
					t.Errorf("Hash() of %s = %s, want %s as for JSONL", name, d.Hash(), want)
				}
				if d.Len() != 2 {
					t.Errorf("Len() of %s = %d, want 2", name, d.Len())
				}
			}
		})
	}
}

func TestStandardInput(t *testing.T) {
	before := tempFiles(t)
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader(gzipped(t, twoCSV))})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff(two, all(t, d)); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if after := tempFiles(t); len(after) > len(before) {
		t.Errorf("temporary files left: %v", after)
	}
	_, err = dataset.Open(t.Context(), dataset.Source{Names: []string{"-"}, Stdin: strings.NewReader("{\"id\":1}\n")})
	if want := "stdin:1: no response (columns here: id)"; err == nil || err.Error() != want {
		t.Errorf("Open = %v, want %s", err, want)
	}
	_, err = dataset.Open(t.Context(), dataset.Source{Names: []string{"-", "-"}, Stdin: strings.NewReader(twoCSV)})
	if err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("Open(-, -) = %v, want an error", err)
	}
}

func tempFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(os.TempDir(), "deem-*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestSeveralFiles(t *testing.T) {
	a := write(t, "a.jsonl", `{"response":"1"}`+"\n"+`{"response":"2"}`+"\n")
	b := write(t, "b.csv", "response\n3\n")
	empty := write(t, "empty.jsonl", "\n")
	d := open(t, dataset.Source{Names: []string{a, empty, b}})
	want := []deem.Item{{ID: "1", Response: "1"}, {ID: "2", Response: "2"}, {ID: "3", Response: "3"}}
	if diff := cmp.Diff(want, all(t, d)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{a, empty, b}, d.Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	notes := []string{
		"no ids: items are numbered by position",
		"no item has a reference",
		"no item has a question",
		"no items in " + empty,
	}
	if diff := cmp.Diff(notes, d.Notes()); diff != "" {
		t.Errorf("Notes (-want +got):\n%s", diff)
	}
}

func TestLimit(t *testing.T) {
	name := write(t, "a.jsonl", `{"id":1,"response":"a"}`+"\n"+`{"id":2,"response":"b"}`+"\nnot read\n")
	d := open(t, dataset.Source{Names: []string{name}, Limit: 2})
	if got := len(all(t, d)); got != 2 || d.Len() != 2 {
		t.Errorf("%d items, Len() = %d, want 2", got, d.Len())
	}
	whole := open(t, dataset.Source{Names: []string{write(t, "b.jsonl", `{"id":1,"response":"a"}`+"\n"+`{"id":2,"response":"b"}`)}})
	if d.Hash() != whole.Hash() {
		t.Errorf("Hash() = %s, want that of the two items, %s", d.Hash(), whole.Hash())
	}
	if other := open(t, dataset.Source{Names: []string{name}, Limit: 1}); other.Hash() == d.Hash() {
		t.Error("one item has the hash of two")
	}
}

func TestHashTellsItemsApart(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		`{"response":"a"}`, `{"response":"b"}`, `{"id":"2","response":"a"}`, `{"response":"a","weight":2}`,
		`{"response":"a","references":["x"]}`, `{"response":"a","references":"x"}`, `{"response":"a","references":["x","y"]}`,
		`{"response":"a","references":["y","x"]}`, `{"response":"a","question":"x"}`, `{"response":"a","fields":{"x":"1"}}`,
		`{"response":"a"}` + "\n" + `{"response":"b"}`, `{"id":"2","response":"b"}` + "\n" + `{"id":"1","response":"a"}`,
	} {
		h := open(t, dataset.Source{Names: []string{write(t, "a.jsonl", text)}}).Hash()
		if before, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", before, text)
		}
		seen[h] = text
	}
}

func TestChangedFile(t *testing.T) {
	tests := []struct{ title, text string }{
		{"longer", twoLines + `{"id":"q3","response":"x"}` + "\n"},
		{"shorter", twoLines[:20]},
		{"gone", ""},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			name := write(t, "a.jsonl", twoLines)
			d := open(t, dataset.Source{Names: []string{name}})
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if tt.text != "" {
				if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var last error
			for _, err := range d.Items() {
				last = err
			}
			if last == nil {
				t.Fatal("Items gave no error for a file that is not what was checked")
			}
			want := "the file has changed since it was checked"
			if tt.text == "" {
				want = "no such file"
			}
			if !strings.Contains(last.Error(), want) || !strings.Contains(last.Error(), name) {
				t.Errorf("Items gave %q, want %q and the name", last, want)
			}
		})
	}
}

func TestChangedWhileRead(t *testing.T) {
	name := write(t, "a.jsonl", twoLines)
	d := open(t, dataset.Source{Names: []string{name}})
	var last error
	for _, err := range d.Items() {
		if last = err; err != nil {
			break
		}
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if last == nil || !strings.Contains(last.Error(), "has changed") {
		t.Errorf("Items ended with %v, want that the file has changed", last)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{write(t, "a.jsonl", twoLines), write(t, "a.json", twoList), write(t, "a.csv.gz", gzipped(t, twoCSV))} {
		if _, err := dataset.Open(ctx, dataset.Source{Names: []string{name}}); !errors.Is(err, ctx.Err()) {
			t.Errorf("Open(%s) = %v, want %v", filepath.Base(name), err, ctx.Err())
		}
	}
}

// TestHugeRow reads a row of 50 MB, and one of many windows in a list, between small
// ones.
func TestHugeRow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; make test runs it")
	}
	chunk := "Malmö" + strings.Repeat(", plain text", 90) + `\n`
	for name, size := range map[string]int{"a.jsonl": 50 << 20, "a.json": 2 << 20} {
		n := size / len(chunk)
		rows := []string{`{"id":"small","response":"a"}`, `{"id":"huge","response":"` + strings.Repeat(chunk, n) + `"}`, `{"id":"last","response":"b"}`}
		text := strings.Join(rows, "\n")
		if name == "a.json" {
			text = "[" + strings.Join(rows, ",") + "]"
		}
		d := open(t, dataset.Source{Names: []string{write(t, name, text)}})
		var lengths []int
		for it, err := range d.Items() {
			if err != nil {
				t.Fatal(err)
			}
			lengths = append(lengths, len(it.Response))
		}
		if want := []int{1, n * (len(chunk) - 1), 1}; !cmp.Equal(lengths, want) {
			t.Errorf("lengths of responses in %s = %v, want %v", name, lengths, want)
		}
	}
}
