package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"deem/internal/agreement"
	"deem/internal/cli"
	"deem/internal/reports/agree"
)

// published reads the verdicts of people and of nine judges on 3,200 answers, and writes
// input for deem: items, people's labels, and a table of the judges' verdicts. It skips the
// test if the verdicts are missing: we may not distribute them.
func published(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "human_triviaqa_9judges", "derived.jsonl.gz"))
	if err != nil {
		t.Skipf("the published verdicts are not here: %v", err)
	}
	defer f.Close() //nolint:errcheck // It was only read.
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	judges := []string{"GPT-4", "Gemma-2B"}
	items, people, verdicts := []string{}, [][]string{{"id", "label"}}, [][]string{append([]string{"id"}, judges...)}
	dec := json.NewDecoder(z)
	for i := 0; dec.More(); i++ {
		var row struct {
			System, Question string
			HumanLabel       bool `json:"human_label"`
			Judges           map[string]bool
		}
		if err := dec.Decode(&row); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint("t", i)
		item, err := json.Marshal(map[string]string{"id": id, "category": row.System, "question": row.Question, "response": "not published"})
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(item))
		people = append(people, []string{id, strconv.FormatBool(row.HumanLabel)})
		line := []string{id}
		for _, j := range judges {
			line = append(line, strconv.FormatBool(row.Judges[j]))
		}
		verdicts = append(verdicts, line)
	}
	var lines bytes.Buffer
	for _, item := range items {
		lines.WriteString(item + "\n")
	}
	put(t, filepath.Join(dir, "items.jsonl"), lines.Bytes())
	put(t, filepath.Join(dir, "people.csv"), table(t, people))
	put(t, filepath.Join(dir, "judges.csv"), table(t, verdicts))
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func table(t *testing.T, rows [][]string) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := csv.NewWriter(&buf).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestAgreePublished reproduces the published agreement of judges with people through the
// command: the judges' recorded verdicts as runs, people's as labels.
func TestAgreePublished(t *testing.T) {
	notQuick(t)
	dir := t.TempDir()
	published(t, dir)
	t.Parallel()
	db := filepath.Join(dir, "deem.db")
	for i, c := range []struct {
		judge            string
		agreement, kappa float64
		confusion        agreement.Confusion
	}{
		{"GPT-4", 0.9500, 0.8924, agreement.Confusion{TP: 1945, FP: 66, FN: 94, TN: 1095}},
		{"Gemma-2B", 0.6269, 0.0499, agreement.Confusion{TP: 1848, FP: 1003, FN: 191, TN: 158}},
	} {
		if i%peopleStep != 0 {
			continue
		}
		command(t, "run", "--db", db, "--data", filepath.Join(dir, "items.jsonl"), "--judge", "labels:"+filepath.Join(dir, "judges.csv")+"#"+c.judge)
		var a agree.Agreement
		if err := json.Unmarshal(command(t, "agree", "--db", db, "last", filepath.Join(dir, "people.csv"), "--json"), &a); err != nil {
			t.Fatal(err)
		}
		all := a.All
		if math.Abs(all.Agreement.Value-c.agreement) > 5e-5 || math.Abs(all.Kappa.Value-c.kappa) > 5e-5 || all.Confusion != c.confusion {
			t.Errorf("%s: agreement %.4f, kappa %.4f, %+v, want %.4f, %.4f, %+v",
				c.judge, all.Agreement.Value, all.Kappa.Value, all.Confusion, c.agreement, c.kappa, c.confusion)
		}
	}
}

// command runs deem, which must succeed, and returns its output.
func command(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := cli.Main(args, bytes.NewReader(nil), &out, &errs); code != 0 {
		t.Fatalf("deem %v: exit code %d: %s", args, code, errs.String())
	}
	return out.Bytes()
}
