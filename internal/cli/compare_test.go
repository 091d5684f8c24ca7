package cli_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/report/compare"
	"deem/stat"
)

// Two published systems over the same 500 questions, from their recorded replies: the
// difference, the exact p of McNemar, and the items that flipped.
func TestPublishedRunsCompared(t *testing.T) {
	t.Parallel()
	runs := readPublished(t, "lme_cognitive_memory")
	dir := t.TempDir()
	yes := map[string]map[string]bool{}
	var replies []byte
	names := map[string]string{}
	for name, rows := range runs {
		if !strings.HasPrefix(name, "cm_full_run") && !strings.HasPrefix(name, "naive_rag") {
			continue
		}
		system := map[bool]string{true: "cm_full_run", false: "naive_rag"}[strings.HasPrefix(name, "cm_full_run")]
		names[system] = name
		writePublished(t, dir, rows)
		text, err := os.ReadFile(filepath.Join(dir, "replies.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, text...)
		for _, file := range []string{"questions.jsonl", "hyp.jsonl"} {
			if err := os.Rename(filepath.Join(dir, file), filepath.Join(dir, system+"."+file)); err != nil {
				t.Fatal(err)
			}
		}
		yes[system] = map[string]bool{}
		for _, r := range rows {
			yes[system][r.ID] = strings.Contains(strings.ToLower(r.Reply), "yes")
		}
	}
	if len(names) != 2 {
		t.Fatalf("runs %v, want cm_full_run and naive_rag", names)
	}
	// One file of replies is one model, and so one judge.
	if err := os.WriteFile(filepath.Join(dir, "replies.jsonl"), replies, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"naive_rag", "cm_full_run"} {
		run(t, dir, 0, "run", "longmemeval", "--data", system+".questions.jsonl", "--responses", system+".hyp.jsonl", "--model", "replay:replies.jsonl")
	}
	p := run(t, dir, 0, "compare", "naive_rag=last~1", "cm_full_run=last", "--json")
	var c compare.Comparison
	if err := json.Unmarshal([]byte(p.out.String()), &c); err != nil {
		t.Fatal(err)
	}
	up, down := 0, 0
	for id, first := range yes["naive_rag"] {
		switch second := yes["cm_full_run"][id]; {
		case second && !first:
			up++
		case first && !second:
			down++
		}
	}
	d := c.Pairs[0].Overall
	want := stat.BinomialTest(up, up+down, 0.5, stat.TwoSided)
	if math.Abs(d.First-350.0/500) > 1e-12 || math.Abs(d.Second-363.0/500) > 1e-12 || math.Abs(d.Test.P-want) > 1e-12 || d.Test.Method != "mcnemar-exact" {
		t.Errorf("%v and %v with %+v, want 0.7 and 0.726 with p %v", d.First, d.Second, *d.Test, want)
	}
	if d.Wins != up || d.Losses != down || d.N != 500 || c.Pairs[0].Won.N != up || len(c.Pairs[0].Categories) != 6 {
		t.Errorf("wins %d, losses %d, n %d, %d categories; want %d, %d, 500, 6", d.Wins, d.Losses, d.N, len(c.Pairs[0].Categories), up, down)
	}
	t.Logf("\n%s", run(t, dir, 0, "compare", "naive_rag=last~1", "cm_full_run=last", "--flips", "flips.csv", "--html", "page.html", "--gate", "overall.lo >= -4pp").out.String())
}
