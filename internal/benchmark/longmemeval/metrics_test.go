package longmemeval_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/benchmark/longmemeval"
	"deem/judge"
)

var update = flag.Bool("update", false, "write the golden files anew")

var kinds = []string{
	"single-session-user", "single-session-preference", "single-session-assistant",
	"multi-session", "temporal-reasoning", "knowledge-update",
}

// judged returns the record of an item with the given reply of the judge.
func judged(tb testing.TB, p *longmemeval.QA, id, kind, reply string) deem.Record {
	tb.Helper()
	rec := deem.Record{
		Item: deem.Item{ID: id, Category: kind}, Judge: p.Name(),
		Calls: []deem.Call{{Reply: &deem.Reply{Text: reply, Stop: deem.StopEnd}}},
	}
	v, err := judge.Read(p, rec.Item, *rec.Calls[0].Reply)
	if err == nil {
		rec.Verdict = &v
		return rec
	}
	rec.Failure = failure(tb, err)
	return rec
}

// seven are replies that begin with neither yes nor no; in three of them upstream finds a
// yes.
var seven = []string{
	"It is correct: yes", "The response says no such thing", "Hard to say.", "Well, yes and no",
	"Partially", "\"yes\"", "Correct",
}

// scene returns a run over 500 items in the published numbers of types, 30 of them
// unanswerable, with seven replies that are neither yes nor no.
func scene(t *testing.T, reading string) []deem.Record {
	t.Helper()
	p := protocol(t, reading)
	var recs []deem.Record
	for i, n := range []int{70, 30, 56, 133, 133, 78} {
		for k := range n {
			id := fmt.Sprintf("q%d-%03d", i, k)
			if k < 5 {
				id += "_abs"
			}
			reply := []string{"Yes", "yes.", "No", " YES\n", "no."}[(k*7+i)%5]
			if k == 40 || i == 0 && k == 60 || i == 1 && k == 20 {
				reply = seven[len(seven)-1-countFailed(recs)%7]
			}
			recs = append(recs, judged(t, p, id, kinds[i], reply))
		}
	}
	return recs
}

// countFailed counts the replies of seven among the records.
func countFailed(recs []deem.Record) int {
	n := 0
	for _, rec := range recs {
		if slices.Contains(seven, rec.Calls[0].Reply.Text) {
			n++
		}
	}
	return n
}

func metricsOf(recs []deem.Record) *longmemeval.Metrics {
	m := longmemeval.NewMetrics()
	for _, rec := range recs {
		m.Add(rec)
	}
	return m
}

// TestSevenAmbiguous judges 500 items with seven replies that are neither yes nor no.
// Strict names the seven and excludes them; upstream's own number follows its rule,
// whatever the reading of the run.
func TestSevenAmbiguous(t *testing.T) {
	recs := scene(t, "strict")
	if len(recs) != 500 || countFailed(recs) != 7 {
		t.Fatalf("%d records with %d ambiguous replies, want 500 and 7", len(recs), countFailed(recs))
	}
	var want []string
	rule := 0
	for _, rec := range recs {
		reply := rec.Calls[0].Reply.Text
		if slices.Contains(seven, reply) {
			want = append(want, rec.Item.ID)
		}
		if strings.Contains(strings.ToLower(strings.TrimSpace(reply)), "yes") {
			rule++
		}
	}
	slices.Sort(want)
	m := metricsOf(recs)
	if diff := cmp.Diff(want, m.Unjudged()); diff != "" {
		t.Errorf("unjudged (-want +got):\n%s", diff)
	}
	all := m.Overall()
	if all.N != 493 || all.Unjudged != 7 || all.Right != rule-3 {
		t.Errorf("overall %+v, want %d right of 493 and 7 unjudged", all, rule-3)
	}
	if b := all.Band; math.Abs(b.Lo-float64(rule-3)/500) > 1e-12 || math.Abs(b.Hi-float64(rule+4)/500) > 1e-12 {
		t.Errorf("band %+v, want %d to %d of 500", b, rule-3, rule+4)
	}
	line := fmt.Sprintf("\nOverall Accuracy: %v\n", math.Round(float64(rule)/500*1e4)/1e4)
	if got := m.Upstream(); !strings.Contains(got, line) {
		t.Errorf("upstream prints\n%s\nwant %s", got, line)
	}
	up := metricsOf(scene(t, "upstream"))
	if up.Overall().Right != rule || up.Overall().N != 500 || up.Upstream() != m.Upstream() || up.UpstreamStdout() != m.UpstreamStdout() {
		t.Errorf("read upstream: %+v, want %d right of 500, and the same lines", up.Overall(), rule)
	}
}

// TestText compares the output with a golden file.
func TestText(t *testing.T) {
	scenes := map[string]*longmemeval.Metrics{
		"strict": metricsOf(scene(t, "strict")),
		"empty":  longmemeval.NewMetrics(),
		"partial": metricsOf([]deem.Record{
			judged(t, protocol(t, ""), "a", "multi-session", "yes"),
			judged(t, protocol(t, ""), "b_abs", "odd", "no"),
			judged(t, protocol(t, ""), "c", "multi-session", ""),
		}),
	}
	for name, m := range scenes {
		var text bytes.Buffer
		if err := m.Text(&text); err != nil {
			t.Fatal(err)
		}
		js, err := json.MarshalIndent(m.JSON(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		goldenFile(t, name+".txt", text.Bytes())
		goldenFile(t, name+".json", append(js, '\n'))
	}
}

func goldenFile(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestRounding distinguishes the two roundings: numpy's in all lines, and Python's in the
// first line of evaluate_qa.py.
func TestRounding(t *testing.T) {
	m := longmemeval.NewMetrics()
	p := protocol(t, "")
	for i := range 160 {
		reply := "no"
		if i == 0 {
			reply = "yes"
		}
		m.Add(judged(t, p, fmt.Sprint(i), "multi-session", reply))
	}
	if got, want := m.Upstream(), "Overall Accuracy: 0.0062\n"; !strings.Contains(got, want) {
		t.Errorf("print_qa_metrics.py:\n%s\nwant %s", got, want)
	}
	if got, want := m.UpstreamStdout(), "Accuracy: 0.0063\n"; !strings.HasPrefix(got, want) {
		t.Errorf("evaluate_qa.py:\n%s\nwant %s", got, want)
	}
	if got, want := m.UpstreamStdout(), "\tmulti-session: 0.0062 (160)\n"; !strings.Contains(got, want) {
		t.Errorf("evaluate_qa.py:\n%s\nwant %s", got, want)
	}
	if got, want := m.Upstream(), "\tsingle-session-user: nan (0)\n"; !strings.Contains(got, want) || !strings.Contains(got, "Task-averaged Accuracy: nan\n") {
		t.Errorf("print_qa_metrics.py:\n%s\nwant %s", got, want)
	}
	if m.TaskAveraged().Estimate != nil {
		t.Errorf("task-averaged %+v, want none without all six types", m.TaskAveraged())
	}
}

// TestAnotherJudge checks that the replies of another judge's records are not searched for
// yes.
func TestAnotherJudge(t *testing.T) {
	reply := func(s string) []deem.Call { return []deem.Call{{Reply: &deem.Reply{Text: s}}} }
	m := metricsOf([]deem.Record{
		{Item: deem.Item{ID: "a", Category: "multi-session"}, Judge: "universal", Verdict: &deem.Verdict{Label: "CORRECT", Score: 1}, Calls: reply("CORRECT")},
		{Item: deem.Item{ID: "b", Category: "multi-session"}, Judge: "universal", Verdict: &deem.Verdict{Label: "INCORRECT"}, Calls: reply("yes, INCORRECT")},
		{Item: deem.Item{ID: "c", Category: "multi-session"}, Judge: "rubric", Verdict: &deem.Verdict{Label: "scored", Score: 0.5}},
		{Item: deem.Item{ID: "c", Category: "multi-session"}, Judge: "rubric", Trial: 1, Verdict: &deem.Verdict{Label: "scored"}},
	})
	all := m.Overall()
	if all.N != 3 || all.Estimate.Value != 0.5 || all.Estimate.Method != "t" {
		t.Errorf("overall %+v %+v, want the mean 0.5 of 3 scores", all, all.Estimate)
	}
	if got, want := m.UpstreamStdout(), "Accuracy: 0.5\n"; !strings.HasPrefix(got, want) {
		t.Errorf("evaluate_qa.py:\n%s\nwant %s", got, want)
	}
	if w := m.Warnings(); !slices.Contains(w, "1 item without a label that upstream could have given, left out of its lines") {
		t.Errorf("warnings %q", w)
	}
}

// addRun adds records with the given number of right items of each type.
func addRun(m *longmemeval.Metrics, right, of [6]int) {
	verdicts := map[bool]*deem.Verdict{true: {Label: "yes", Score: 1}, false: {Label: "no"}}
	for i, kind := range kinds {
		for k := range of[i] {
			m.Add(deem.Record{Item: deem.Item{Category: kind}, Verdict: verdicts[k < right[i]]})
		}
	}
}

// TestTaskAveraged compares with values computed independently in Python from the formula
// of Price and Bonett.
func TestTaskAveraged(t *testing.T) {
	for _, c := range []struct {
		right, of     [6]int
		value, lo, hi float64
	}{
		{[6]int{63, 14, 46, 97, 78, 65}, [6]int{70, 30, 56, 133, 133, 78}, 0.7228696741854637, 0.6782192324437991, 0.7637766731169894},
		{[6]int{2, 1, 1, 1, 1, 1}, [6]int{3, 2, 2, 2, 3, 2}, 0.5, 0.26873419598993076, 0.7312658040100691},
		{[6]int{5, 5, 5, 5, 5, 5}, [6]int{5, 5, 5, 5, 5, 5}, 1.0, 0.8620868116990837, 1.0},
		{[6]int{0, 0, 0, 0, 0, 0}, [6]int{1, 1, 1, 1, 1, 1}, 0.0, 0.0, 0.44791801292182465},
		{[6]int{1, 0, 9, 0, 1, 100}, [6]int{1, 10, 10, 3, 1, 100}, 0.65, 0.4431111910652666, 0.7548380864783819},
	} {
		m := longmemeval.NewMetrics()
		addRun(m, c.right, c.of)
		e := m.TaskAveraged().Estimate
		if math.Abs(e.Value-c.value) > 1e-12 || math.Abs(e.Lo-c.lo) > 1e-9 || math.Abs(e.Hi-c.hi) > 1e-9 {
			t.Errorf("%v of %v: %v [%v, %v], want %v [%v, %v]", c.right, c.of, e.Value, e.Lo, e.Hi, c.value, c.lo, c.hi)
		}
	}
}

// TestTaskAveragedCoverage simulates runs, of the published size and of a tenth of it, in
// which some types are nearly all right, and counts how often the interval contains the
// true value.
func TestTaskAveragedCoverage(t *testing.T) {
	truths := [6]float64{0.97, 0.5, 0.99, 0.7, 0.6, 0.85}
	truth := 0.0
	for _, p := range truths {
		truth += p / 6
	}
	for runs, of := range map[int][6]int{200: {70, 30, 56, 133, 133, 78}, 1000: {7, 3, 6, 13, 13, 8}} {
		rng := rand.New(rand.NewPCG(1, 2))
		held := 0
		for range runs {
			var right [6]int
			for i, n := range of {
				for range n {
					if rng.Float64() < truths[i] {
						right[i]++
					}
				}
			}
			m := longmemeval.NewMetrics()
			addRun(m, right, of)
			if e := m.TaskAveraged().Estimate; e.Lo <= truth && truth <= e.Hi {
				held++
			}
		}
		t.Logf("with %v items the interval held the truth in %d of %d runs", of, held, runs)
		if share := float64(held) / float64(runs); share < 0.915 || share > 0.98 {
			t.Errorf("with %v items the interval held the truth in %.3f of the runs, want about 0.95", of, share)
		}
	}
}

// TestOrder checks that the order of records does not matter, and that estimates are inside
// their intervals.
func TestOrder(t *testing.T) {
	recs := scene(t, "strict")
	want := metricsOf(recs).JSON()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Permutation(recs).Draw(t, "records")
		if diff := cmp.Diff(want, metricsOf(part).JSON(), cmp.AllowUnexported()); diff != "" {
			t.Fatalf("another order (-want +got):\n%s", diff)
		}
		m := metricsOf(part[:rapid.IntRange(0, len(part)).Draw(t, "n")])
		for _, l := range append(m.Types(), m.Overall(), m.Abstention(), m.TaskAveraged()) {
			if b := l.Band; b != nil && l.Estimate != nil && (b.Lo < 0 || b.Hi > 1 || b.Lo > l.Estimate.Value+1e-12 || l.Estimate.Value > b.Hi+1e-12) {
				t.Fatalf("%s: %+v with the band %+v", l.Name, l.Estimate, b)
			}
			if e := l.Estimate; e != nil && (e.Lo > e.Value || e.Value > e.Hi || e.Lo < 0 || e.Hi > 1) {
				t.Fatalf("%s: %+v", l.Name, e)
			}
		}
	})
}

// TestNoType: the files of evaluate_qa.py do not contain the type of a question.
func TestNoType(t *testing.T) {
	m := longmemeval.NewMetrics()
	m.Add(judged(t, protocol(t, ""), "a", "", "yes"))
	m.Add(judged(t, protocol(t, ""), "b", "", "no"))
	var b strings.Builder
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n(no type)                       50.00%", "note: 2 items without a type"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "type  is") || strings.Contains(m.UpstreamStdout(), "\t: ") {
		t.Errorf("an empty type is shown as one:\n%s", b.String())
	}
}
