package cli_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"deem/internal/reports/sensitivity"
)

// The answers of five systems that people judged, compared with the rule "contains/text":
// one command reads the system's columns, selects the proper questions that it answered,
// splits the references, and reproduces the numbers of these data. The rule finds a
// reference inside a word too: "6" in "496", and "loop" in "loop⁶", as newbing writes
// footnotes.
func TestRejudgeSharedPeople(t *testing.T) {
	notQuick(t)
	file := filepath.Join(sharedData, "human_evouna/EVOUNA/NQ.json")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("there is no %s", file)
	}
	t.Parallel()
	db := filepath.Join(t.TempDir(), "deem.db")
	for i, c := range []struct {
		system           string
		items            int
		agreement, kappa float64
	}{
		{"fid", 3019, 0.8973, 0.7793},
		{"gpt35", 3020, 0.8464, 0.6916},
		{"chatgpt", 3020, 0.8030, 0.5753},
		{"gpt4", 3020, 0.8248, 0.5949},
		{"newbing", 3019, 0.8221, 0.5644},
	} {
		if i%peopleStep != 0 {
			continue
		}
		out := command(t, "rejudge", "--json", "--db", db, file, "--map", "response=answer_"+c.system+",label=judge_"+c.system,
			"--only", "improper=false", "--only", "answer_"+c.system, "--split", "/", "--judge", "contains/text")
		var r sensitivity.Report
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		if n := r.Systems[0].Items; n != c.items {
			t.Errorf("%s: %d items, want %d", c.system, n, c.items)
		}
		if p := r.Pairs[0]; math.Abs(p.Agreement.Value-c.agreement) > 5e-5 || math.Abs(p.Kappa.Value-c.kappa) > 1.5e-4 {
			t.Errorf("%s: agreement %.4f, kappa %.4f, want %.4f, %.4f", c.system, p.Agreement.Value, p.Kappa.Value, c.agreement, c.kappa)
		}
	}
}
