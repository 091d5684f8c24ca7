package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/dataset"
)

// Rows may be in a list for each conversation, or members that their keys name.
func TestNested(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       string // id, cluster, category and response of each item
	}{
		{"lists by number", `{"0":[{"question":"a","response":"r"},{"question":"b","response":"s"}],"1":[{"question":"a","response":"t"}]}`, "1 0  r; 2 0  s; 3 1  t"},
		{"members by id", "{\"m1\":{\"question\":\"a\",\"response\":\"r\"},\n\"m2\":{\"question\":\"b\",\"response\":\"s\"}}", "m1   r; m2   s"},
		{"members by id in a report", `{"model":"x","answers":{"m1":{"question":"a","response":"r"},"m2":{"question":"b","response":"s"}}}`, "m1   r; m2   s"},
		{"own ids", `{"c":[{"id":"x","cluster":"y","response":"r"}],"d":[{"id":"z","cluster":"y","response":"s"}]}`, "x y  r; z y  s"},
		{"lists by type", `{"by_type":{"k":[{"question":"a","response":"r"}],"l":[{"question":"b","response":"s"}]}}`, "1  k r; 2  l s"},
		{"a list of all, too", `{"k":[{"question":"a","response":"r"}],"all_rows":[{"question":"a","response":"r"}]}`, "1 k  r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.json")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{file}})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var got []string
			for it, err := range d.Items() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(it.ID, " ", it.Cluster, " ", it.Category, " ", it.Response))
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("items %q, want %q", got, tt.want)
			}
		})
	}
}

// Problems of nested rows have their lines.
func TestNestedLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	if err := os.WriteFile(file, []byte("{\"0\":[{\"response\":\"r\"}],\n\"1\":[\n{\"response\":null}]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{file}})
	if err == nil || !strings.Contains(err.Error(), "a.json:3: the response is null") {
		t.Errorf("Open: %v, want line 3", err)
	}
}

// Two files with the same ids are two systems.
func TestSameIDs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"before.jsonl", "now.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"id":"a","response":"r"}`+"\n"+`{"id":"b","response":"s"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := dataset.Open(t.Context(), dataset.Source{Names: []string{filepath.Join(dir, "*.jsonl")}})
	if err == nil || !strings.Contains(err.Error(), "now.jsonl have 2 ids in common") || !strings.Contains(deem.HintOf(err), "deem run --data "+filepath.Join(dir, "before.jsonl")+";") {
		t.Errorf("Open: %v (%s), want that they are two systems", err, deem.HintOf(err))
	}
}

// Values have the lines of the objects in them.
func TestValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.json")
	text := "{\"n\": 2,\n \"conversation\": {\n  \"rows\": [\n   {\"q\": 1},\n   {\"q\": NaN}]}}"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := dataset.OpenFiles(t.Context(), dataset.Input{Names: []string{file}, Whole: func([]string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	n := 0
	for v, err := range files.Values(t.Context()) {
		n++
		list := v.At("conversation.rows").Vals
		if err != nil || v.Line != 1 || v.Table || len(list) != 2 || list[0].Line != 4 || list[1].Line != 5 {
			t.Errorf("value in line %d with rows %+v, %v, want rows in lines 4 and 5", v.Line, list, err)
		}
	}
	if n != 1 {
		t.Errorf("%d values, want 1", n)
	}
}
