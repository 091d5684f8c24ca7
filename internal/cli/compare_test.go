package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/reports/compare"
	"deem/stat"
)

// Two published systems on the same 500 questions, from their recorded replies: the
// difference, the exact p of McNemar, and the items that flipped.
func TestPublishedRunsCompared(t *testing.T) {
	t.Parallel()
	notQuick(t)
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
	want := stat.McNemar(up, down).P
	if math.Abs(d.First-350.0/500) > 1e-12 || math.Abs(d.Second-363.0/500) > 1e-12 || math.Abs(d.Test.P-want) > 1e-12 || d.Test.Method != "mcnemar-exact" {
		t.Errorf("%v and %v with %+v, want 0.7 and 0.726 with p %v", d.First, d.Second, *d.Test, want)
	}
	if d.Wins != up || d.Losses != down || d.N != 500 || c.Pairs[0].Won.N != up || len(c.Pairs[0].Categories) != 6 {
		t.Errorf("wins %d, losses %d, n %d, %d categories; want %d, %d, 500, 6", d.Wins, d.Losses, d.N, len(c.Pairs[0].Categories), up, down)
	}
	t.Logf("\n%s", run(t, dir, 0, "compare", "naive_rag=last~1", "cm_full_run=last", "--flips", "flips.csv", "--html", "page.html", "--gate", "overall.lo >= -4pp").out.String())
}

// A rule that accepts hedged responses favours the system that hedges. Labels for both
// systems correct this, in text, JSON and HTML, from files and from the database.
func TestCompareCorrectedByLabels(t *testing.T) {
	t.Parallel()
	notQuick(t)
	dir := t.TempDir()
	for _, system := range []string{"rag", "memory"} {
		var items, labels strings.Builder
		labels.WriteString("id,response,label\n")
		for i := range 400 {
			luck := (i*61 + 13*(i/40)*len(system)) % 100
			response, right := "Rome", "incorrect"
			switch {
			case luck < 62:
				response, right = "Paris", "correct"
			case luck < 82 && system == "memory":
				response = "Rome or Paris"
			}
			fmt.Fprintf(&items, `{"id":"q%d","cluster":"c%d","question":"Where?","references":["Paris"],"response":%q}`+"\n", i, i/10, response)
			if i*37%400 < 160 {
				fmt.Fprintf(&labels, "q%d,%s,%s\n", i, response, right)
			}
		}
		for name, text := range map[string]string{system + ".jsonl": items.String(), system + ".csv": labels.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run(t, dir, 0, "run", "--data", system+".jsonl", "--judge", "contains")
		run(t, dir, 0, "label", "import", system+".csv")
	}
	read := func(args ...string) compare.Pair {
		t.Helper()
		var c compare.Comparison
		p := run(t, dir, 0, append([]string{"compare", "rag=last~1", "memory=last", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(p.out.String()), &c); err != nil {
			t.Fatal(err)
		}
		return c.Pairs[0]
	}
	pair := read("--labels", "memory=memory.csv", "--labels", "rag=rag.csv", "--gate", "corrected.lo >= -10pp", "--html", "page.html")
	raw, k := pair.Overall.Estimate, pair.Corrected
	if raw.Lo < 0.1 || k.Estimate.Lo > 0 || k.Estimate.Hi < 0 || k.Outcome != compare.Undecided {
		t.Errorf("raw %.3f [%.3f, %.3f], corrected %.3f [%.3f, %.3f] %s; want a raw difference above 0.1 and none after correction",
			raw.Value, raw.Lo, raw.Hi, k.Estimate.Value, k.Estimate.Lo, k.Estimate.Hi, k.Outcome)
	}
	if k.Sides[0].Accepted != 0 || k.Sides[1].Accepted == 0 || k.Sides[0].Labels != 160 {
		t.Errorf("sides %+v, want 160 labels and wrong responses accepted of the second system only", k.Sides)
	}
	for name, args := range map[string][]string{
		"in the order of the runs": {"--labels", "rag.csv", "--labels", "memory.csv"},
		"from the database":        {"--labels-from-store"},
	} {
		if again := read(args...).Corrected.Estimate; math.Abs(again.Lo-k.Estimate.Lo) > 1e-12 {
			t.Errorf("labels %s: lower end %v, want %v", name, again.Lo, k.Estimate.Lo)
		}
	}
	if k := read("--labels", "rag=rag.csv").Corrected; k != nil && (k.Estimate != nil || k.First != nil) {
		t.Errorf("labels of one system alone: %+v, want no number", k)
	}
	page, err := os.ReadFile(filepath.Join(dir, "page.html"))
	if err != nil || !strings.Contains(string(page), `<th scope="row">corrected</th>`) || !strings.Contains(string(page), "Corrected by labels: ") {
		t.Errorf("the page has no corrected difference (%v)", err)
	}
	for _, args := range [][]string{{"--labels", "rag.csv"}, {"--labels", "other=rag.csv"}, {"--labels", "rag.csv", "--labels-from-store"}} {
		run(t, dir, 2, append([]string{"compare", "rag=last~1", "memory=last"}, args...)...)
	}
	run(t, dir, 4, "compare", "last~1", "last", "--gate", "corrected >= 0pp")
}
