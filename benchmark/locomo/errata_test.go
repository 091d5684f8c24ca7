package locomo_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/benchmark/locomo"
)

// write writes a file into a folder of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	return writeHere(t, filepath.Join(t.TempDir(), name), text)
}

func readErrata(t *testing.T, file string) *locomo.Errata {
	t.Helper()
	e, err := locomo.ReadErrata(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPublishedCeiling makes the ceilings of the locomo-audit project again, from
// items with ids in its own style, in ours, and with ids of no use.
func TestPublishedCeiling(t *testing.T) {
	file, ok := sharedFile(t, "data/locomo_audit/errors.json")
	if !ok {
		return
	}
	e := readErrata(t, file)
	corrupt := 0
	for _, x := range e.List() {
		if x.Corrupts() {
			corrupt++
		}
	}
	if len(e.List()) != 156 || corrupt != 99 {
		t.Errorf("%d errata, of which %d corrupt a score, want 156 and 99", len(e.List()), corrupt)
	}
	data := filepath.Join(shared, locomo10)
	audit := filepath.Join(shared, "data/locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json")
	memobase := filepath.Join(shared, "data/locomo_memobase/docs/experiments/locomo-benchmark/fixture/memobase/memobase_eval_0503_3000.json")
	for name, o := range map[string]locomo.Options{
		"its own ids": {Responses: []string{audit}},
		"ours":        {Data: []string{data}, Responses: []string{audit}},
		"positions":   {Responses: []string{memobase}},
	} {
		c, err := e.Ceiling(open(t, o).Items())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range append(c.Categories, c.Overall) {
			got = append(got, fmt.Sprintf("%s %s %d %d %.2f", l.Category, l.Name, l.Faulty, l.N, 100*l.Ceiling))
		}
		want := []string{"1 multi-hop 28 282 90.07", "2 temporal 26 321 91.90", "3 open-domain 9 96 90.62", "4 single-hop 36 841 95.72", " overall 99 1540 93.57"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: ceilings (-want +got):\n%s", name, diff)
		}
	}
}

// TestPublishedErrata scores real answers beside the errata: over sound items, and
// with the references corrected, in the metrics and by judging again.
func TestPublishedErrata(t *testing.T) {
	file, ok := sharedFile(t, "data/locomo_audit/errors.json")
	if !ok {
		return
	}
	e := readErrata(t, file)
	answers := []string{filepath.Join(shared, "data/locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json")}
	rule := newF1(t, "", "")
	m := locomo.NewMetrics(locomo.MetricsOptions{Errata: e})
	for _, rec := range judged(t, open(t, locomo.Options{Responses: answers}), rule) {
		m.Add(rec)
	}
	again := locomo.NewMetrics(locomo.MetricsOptions{})
	corrected := open(t, locomo.Options{Responses: answers, Errata: e})
	for _, rec := range judged(t, corrected, rule) {
		again.Add(rec)
	}
	x := m.Overall().Errata
	if x.Faulty != 99 || x.Sound.N != 1441 || x.Corrected.N != 1540 {
		t.Errorf("%d faulty, %d sound, %d corrected, want 99, 1441, 1540", x.Faulty, x.Sound.N, x.Corrected.N)
	}
	if got, want := x.Corrected.Value, again.Overall().Estimate.Value; got != want || got == m.Overall().Estimate.Value {
		t.Errorf("corrected score %v, and %v by judging again; as published %v", got, want, m.Overall().Estimate.Value)
	}
	if notes := strings.Join(corrected.Notes(), "\n"); !strings.Contains(notes, "99 references corrected by errors.json") {
		t.Errorf("notes %q do not say what was corrected", notes)
	}
}

func TestErrataOf(t *testing.T) {
	e := readErrata(t, write(t, "errata.jsonl", `{"id": "conv-48/q16", "question": "Which snakes?", "corrected": "Two", "kind": "wrong"}
{"question": "Which books?", "category": 4, "reference": "None", "kind": "hallucination"}
{"question": "Which  GAMES?", "kind": "unanswerable"}
{"question_id": "locomo_0_qa3", "error_type": "WRONG_CITATION", "correct_answer": "same"}
{"id": "mine", "kind": "wrong", "corrected": 3}
`))
	for _, tt := range []struct {
		item deem.Item
		want string // the corrected reference; "-" when there is no erratum
	}{
		{deem.Item{ID: "conv-48/q16", Question: "Which snakes?"}, "Two"},
		{deem.Item{ID: "locomo_7_qa16"}, "Two"},
		{deem.Item{ID: "conv-48/q89", Question: "Which snakes?"}, "-"},
		{deem.Item{ID: "7/3", Question: "which snakes?"}, "Two"},
		{deem.Item{ID: "7/4", Question: "Which books?", Category: "4"}, "None"},
		{deem.Item{ID: "7/4", Question: "Which books?"}, "None"},
		{deem.Item{ID: "7/4", Question: "Which books?", Category: "5"}, "-"},
		{deem.Item{ID: "conv-26/q1", Question: "Which games?"}, ""},
		{deem.Item{ID: "conv-26/q3"}, "-"},
		{deem.Item{ID: "mine"}, "3"},
		{deem.Item{ID: "yours"}, "-"},
	} {
		x, ok := e.Of(tt.item)
		if got := map[bool]string{true: x.Reference, false: "-"}[ok]; got != tt.want {
			t.Errorf("erratum of %s %q: %q, want %q", tt.item.ID, tt.item.Question, got, tt.want)
		}
	}
}

func TestReadErrataRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, "errata.jsonl: there is no erratum in it"},
		{`{"kind": "wrong"}`, `errata.jsonl:1: the erratum names no question: it has neither "id" nor "question"`},
		{"{\"id\": \"a\", \"kind\": \"x\"}\n{\"id\": \"b\"}", `errata.jsonl:2: the erratum has no "kind"`},
		{"{\"id\": \"a\", \"kind\": \"x\"}\n{\"id\": \"a\", \"kind\": \"x\"}", "errata.jsonl:2: there was an erratum of a before"},
		{`{"id": "a", "kind": "x", "category": "temporal"}`, `errata.jsonl:1: category "temporal" is none of 1 to 5`},
		{"{\"id\": \"a\"\n", "errata.jsonl:1: not JSON"},
	} {
		file := write(t, "errata.jsonl", tt.text)
		_, err := locomo.ReadErrata(t.Context(), file)
		if got := strings.ReplaceAll(fmt.Sprint(err), filepath.Dir(file)+"/", ""); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: error %s, want %s", tt.text, got, tt.want)
		}
	}
	if _, err := locomo.ReadErrata(t.Context(), filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("no error for a file that is not there")
	}
}

// TestAboveCeiling warns of a score that right answers cannot give.
func TestAboveCeiling(t *testing.T) {
	e := readErrata(t, write(t, "errata.jsonl", `{"id": "a", "kind": "wrong"}`))
	m := locomo.NewMetrics(locomo.MetricsOptions{Errata: e})
	for _, id := range []string{"a", "b"} {
		m.Add(deem.Record{Item: deem.Item{ID: id, Category: "4"}, Judge: "x", Verdict: &deem.Verdict{Label: "yes", Score: 1}})
	}
	want := []string{
		"4 single-hop scores 100.00%, above its ceiling of 50.00%: some wrong references were met, or the judge is generous",
		"overall scores 100.00%, above its ceiling of 50.00%: some wrong references were met, or the judge is generous",
	}
	if diff := cmp.Diff(want, m.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
