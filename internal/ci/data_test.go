package ci_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deem"
	"deem/internal/dataset"
	"deem/internal/rows"
	"deem/judge"
)

// open opens a dataset out of the text of a JSONL file, which is shown as
// answers.jsonl.
func open(t *testing.T, text string) ([]deem.Item, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("answers.jsonl", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), dataset.Source{Names: []string{"answers.jsonl"}})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	var items []deem.Item
	for it, err := range d.Items() {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	return items, nil
}

// TestDocumentedData reads the rows that the document about data begins with.
func TestDocumentedData(t *testing.T) {
	m := regexp.MustCompile("(?s)```jsonl\n(.*?)```").FindStringSubmatch(read(t, "docs/data.md"))
	if m == nil {
		t.Fatal("the document shows no rows")
	}
	items, err := open(t, m[1])
	if err != nil || len(items) != 2 {
		t.Fatalf("%d items, error %v, want 2", len(items), err)
	}
	if it := items[0]; it.ID != "q1" || it.Category != "temporal" || it.References[0] != "March 2023" || it.Response != "In March of 2023." {
		t.Errorf("the first item is %+v", it)
	}
}

// TestDocumentedColumns holds the table of columns to those that are recognised,
// and reads a row for each of them.
func TestDocumentedColumns(t *testing.T) {
	doc := read(t, "docs/data.md")
	for _, c := range rows.Columns() {
		labels := []string{rows.Item, rows.Label, rows.Annotator, "confidence", rows.Note, "judge_hash", "drawn"}
		if slices.Contains(labels, c.Target) {
			for _, name := range c.Names {
				if !strings.Contains(read(t, "docs/agree.md"), "`"+name+"`") {
					t.Errorf("docs/agree.md does not name the column %s of labels", name)
				}
			}
			continue
		}
		row := "| `" + c.Target + "` | `" + strings.Join(c.Names, "`, `") + "` |"
		if !strings.Contains(doc, "\n"+row) {
			t.Errorf("the document has no row %s", row)
		}
		if recorded := []string{"reason", "reply", "judge_model", "system"}; slices.Contains(recorded, c.Target) {
			continue // They are part of a published result, not of an item.
		}
		for _, name := range c.Names {
			if got := partOf(t, c.Target, name); got != "1" {
				t.Errorf("column %s gives the %s %q, want 1", name, c.Target, got)
			}
		}
	}
}

// TestDocumentedFormats holds the table of formats to those that are read.
func TestDocumentedFormats(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/data.md"), "## Formats")
	table, _, _ = strings.Cut(table, "\n\nText")
	for _, format := range dataset.Formats() {
		if !strings.Contains(table, "`"+format+"`") {
			t.Errorf("the document has no row for %s", format)
		}
	}
}

// partOf reads a row whose column holds 1 and returns the part of the item.
func partOf(t *testing.T, part, column string) string {
	t.Helper()
	value := "1"
	switch part {
	case "fields":
		value = `{"x": 1}`
	case "messages":
		value = `[{"role": "user", "content": "1"}]`
	}
	row := fmt.Sprintf(`{"response": "r", %q: %s}`, column, value)
	if part == "response" {
		row = fmt.Sprintf(`{%q: 1}`, column)
	}
	items, err := open(t, row+"\n")
	if err != nil || len(items) != 1 {
		t.Fatalf("row %s: %d items, error %v", row, len(items), err)
	}
	it := items[0]
	parts := map[string]string{
		"id": it.ID, "category": it.Category, "cluster": it.Cluster, "question": it.Question,
		"references": strings.Join(it.References, ","), "response": it.Response,
		"weight": fmt.Sprint(it.Weight), "fields": it.Fields["x"],
	}
	if part == "messages" && len(it.Messages) == 1 {
		return it.Messages[0].Content
	}
	if slices.Contains(rows.SystemFields(), part) {
		return it.Fields[part]
	}
	return parts[part]
}

// TestDocumentedReferences looks how a judge with a published prompt writes
// references, as the document says.
func TestDocumentedReferences(t *testing.T) {
	d, _ := judge.Builtin("universal")
	p := protocol(t, d)
	for _, c := range []struct{ references, want string }{
		{`"Porto"`, "Porto"},
		{`2.50`, "2.5"},
		{`true`, "True"},
		{`["2"]`, "['2']"},
		{`[2]`, "[2]"},
		{`["2", "两个"]`, "['2', '两个']"},
	} {
		items, err := open(t, `{"response": "r", "references": `+c.references+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		req, err := p.Request(items[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := "\nExpected: " + c.want + "\n"; !strings.Contains(req.Messages[0].Content, want) {
			t.Errorf("references %s: the prompt does not hold %q:\n%s", c.references, want, req.Messages[0].Content)
		}
	}
}
