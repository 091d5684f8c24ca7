package ci_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
)

// TestQuickstartData holds the example data to the bundled example, and its labels to
// what we said of each item there.
func TestQuickstartData(t *testing.T) {
	answers := read(t, "examples/quickstart/answers.jsonl")
	if answers != read(t, "internal/cli/demo/items.jsonl") {
		t.Error("examples/quickstart/answers.jsonl is not the bundled example any more")
	}
	human := map[string]string{}
	for line := range strings.Lines(answers) {
		var it struct {
			ID     string
			Fields struct{ Human string }
		}
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		human[it.ID] = it.Fields.Human
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, "examples/quickstart/labels.csv"))).ReadAll()
	if err != nil || len(rows) != 61 || rows[0][0] != "id" || rows[0][4] != "label" {
		t.Fatalf("labels.csv has %d rows beginning with %v, error %v", len(rows), rows[0], err)
	}
	for _, row := range rows[1:] {
		if human[row[0]] != row[4] {
			t.Errorf("labels.csv says %s of %s, and we said %s", row[4], row[0], human[row[0]])
		}
	}
}
