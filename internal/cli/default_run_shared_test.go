package cli_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deem/report"
)

// An answered is a published file of answers by several systems: how its rows name the
// system, and which of its labels are people's.
type answered struct {
	file   string
	people bool
}

// deem run --data with defaults gives a number for every published set with responses and
// references, and exits with 0. Where people judged the responses, the interval contains
// their score for at least nine sets in ten.
func TestDefaultRunShared(t *testing.T) {
	notQuick(t)
	if _, err := os.Stat(sharedData); err != nil {
		t.Skipf("the published data are not here: %v", err)
	}
	hotpot, err := filepath.Glob(filepath.Join(sharedData, "human_cognee_hotpot/evals/old/*/*_hum*_eval.json"))
	if err != nil || len(hotpot) != 4 {
		t.Fatalf("the files that people judged: %q, %v", hotpot, err)
	}
	list := []answered{{"human_evouna/derived.jsonl.gz", true}}
	for _, name := range []string{
		"lme_cognitive_memory", "lme_gemini_image_text", "lme_mflow5", "locomo_acb_raw", "locomo_audit",
		"locomo_core_raw", "locomo_memobase", "locomo_mflow5", "zh_halluqa_gpt4judge",
	} {
		found, err := filepath.Glob(filepath.Join(sharedData, name, "derived.jsonl*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %q, %v", name, found, err)
		}
		list = append(list, answered{name + "/" + filepath.Base(found[0]), false})
	}
	dir := t.TempDir()
	sets, inside := 0, 0
	check := func(t *testing.T, name, file string, people *float64) {
		t.Helper()
		var r report.Report
		out := command(t, "run", "--data", file, "--db", filepath.Join(dir, "deem.db"), "--json") // fails unless it exits with 0
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%s: %v in %.300s", name, err, out)
		}
		if len(r.Metrics) == 0 || r.Metrics[0].Judged == nil {
			t.Errorf("%s has no score", name)
			return
		}
		est := r.Metrics[0].Judged
		if people == nil {
			return
		}
		sets++
		if !est.LeavesOut(*people) {
			inside++
		}
		t.Logf("%s: %.1f%% %s, people %.1f%%", name, 100*est.Value, est.Ends("%.1f", 100), 100**people)
	}
	for _, set := range list {
		for system, rows := range rowsBySystem(t, filepath.Join(sharedData, set.file)) {
			file := filepath.Join(dir, strings.ReplaceAll(system, "/", "_")+".jsonl")
			if err := os.WriteFile(file, []byte(strings.Join(rows.lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			var people *float64
			if set.people {
				people = new(float64(rows.right) / float64(len(rows.lines)))
			}
			check(t, set.file+" "+system, file, people)
		}
	}
	for _, file := range hotpot {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []struct { // each has one metric, which two of the files name differently
			Metrics map[string]struct{ Score float64 }
		}
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		sum := 0.0
		for _, row := range rows {
			for _, m := range row.Metrics {
				sum += m.Score
			}
		}
		check(t, filepath.Base(file), file, new(sum/float64(len(rows))))
	}
	if sets != 9 || 10*inside < 9*sets {
		t.Errorf("the interval holds the score of people for %d of %d sets, want nine in ten of 9", inside, sets)
	}
}

// A systemRows is the rows of one system that have a response and, in sets that people
// judged, a proper question.
type systemRows struct {
	lines []string
	right int // rows that people call right
}

// rowsBySystem reads a file of answers by several systems or runs.
func rowsBySystem(t *testing.T, file string) map[string]*systemRows {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]*systemRows{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var row struct {
			System, Run, Response string
			Improper              bool
			HumanLabel            bool `json:"human_label"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if row.Response == "" || row.Improper {
			continue
		}
		name := strings.Join(slices.DeleteFunc([]string{row.System, row.Run}, func(s string) bool { return s == "" }), "-")
		if all[name] == nil {
			all[name] = &systemRows{}
		}
		all[name].lines = append(all[name].lines, lines.Text())
		if row.HumanLabel {
			all[name].right++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
