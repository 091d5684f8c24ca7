package locomo_test

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/locomo"
	"deem/judge"
	"deem/model/replay"
)

var update = flag.Bool("update", false, "write the golden files")

const examples = "../../../examples/locomo"

func example(name string) string { return filepath.Join(examples, name) }

// TestExample judges the example with each judge and policy, and compares scores and notes
// with golden files.
func TestExample(t *testing.T) {
	tests := []struct {
		name      string
		responses string
		policy    locomo.Policy
		judge     func(t *testing.T, p locomo.Policy) deem.Judge
		reading   string
	}{
		{"f1-excluded", "mem0.json", locomo.Excluded, f1("upstream"), ""},
		{"f1-phrases", "responses.jsonl", locomo.Phrases, f1("upstream"), ""},
		{"f1-fixed", "responses.jsonl", locomo.Excluded, f1("fixed"), "fixed"},
		{"strict", "responses.jsonl", locomo.Excluded, asked(locomo.StrictName), ""},
		{"lenient-abstention", "responses.jsonl", locomo.Abstention, asked(locomo.LenientName), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, locomo.Options{
				Data: []string{example("conversations.json")}, Responses: []string{example(tt.responses)}, With: map[string]string{"category5": string(tt.policy)},
			})
			m := locomo.NewMetrics(tt.policy, tt.reading)
			for _, rec := range judged(t, s, tt.judge(t, tt.policy)) {
				m.Add(rec)
			}
			var b strings.Builder
			for _, note := range s.Notes() {
				b.WriteString("note of the files: " + note + "\n")
			}
			if err := m.Text(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name+".txt", b.String())
			j, err := json.MarshalIndent(m.JSON(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name+".json", string(j)+"\n")
		})
	}
}

// f1 returns the rule.
func f1(reading string) func(*testing.T, locomo.Policy) deem.Judge {
	return func(t *testing.T, p locomo.Policy) deem.Judge {
		t.Helper()
		j, err := locomo.NewF1(reading, p)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
}

// asked returns a judge that replays the example's replies.
func asked(name string) func(*testing.T, locomo.Policy) deem.Judge {
	return func(t *testing.T, p locomo.Policy) deem.Judge {
		t.Helper()
		m, err := replay.Open(example("replies-" + strings.TrimPrefix(name, "locomo/") + ".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		q, err := locomo.Protocol(name, "", p)
		if err != nil {
			t.Fatal(err)
		}
		return judge.New(q, m)
	}
}

// judged returns the records of a run in the order of the items.
func judged(t *testing.T, s benchmark.Set, j deem.Judge) []deem.Record {
	t.Helper()
	list := make([]deem.Record, s.Len())
	for rec, err := range deem.Run(t.Context(), s.Items(), j, deem.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		list[rec.Position] = rec
	}
	return list
}

// golden compares text with a file in testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		writeHere(t, file, got)
	}
	if diff := cmp.Diff(readFile(t, file), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// TestExampleReadme checks that the README of the example shows the scores.
func TestExampleReadme(t *testing.T) {
	doc := readFile(t, example("README.md"))
	for _, name := range []string{"f1-excluded.txt", "strict.txt"} {
		_, numbers, _ := strings.Cut(readFile(t, filepath.Join("testdata", name)), "\nlocomo, ")
		if !strings.Contains(doc, "```text\nlocomo, "+numbers+"```") {
			t.Errorf("the document does not show what is in %s:\nlocomo, %s", name, numbers)
		}
	}
}

// TestTwoForms opens the example's responses in both formats and checks that they are the
// same answers.
func TestTwoForms(t *testing.T) {
	data := []string{example("conversations.json")}
	rows := items(t, open(t, locomo.Options{Data: data, Responses: []string{example("responses.jsonl")}}))
	for i := range rows {
		delete(rows[i].Fields, "gold_ids")
		delete(rows[i].Fields, locomo.ContextField) // Mem0's file does not contain what was retrieved.
	}
	mem0 := items(t, open(t, locomo.Options{Data: data, Responses: []string{example("mem0.json")}}))
	if diff := cmp.Diff(mem0, rows); diff != "" {
		t.Errorf("the two forms differ (-mem0 +rows):\n%s", diff)
	}
}
