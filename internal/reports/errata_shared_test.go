package reports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/benchmark/locomo"
	"deem/internal/reports"
	"deem/report"
)

// shared is the folder of published data, which we do not ship.
const shared = "../../../shared"

// audit returns the list of the locomo-audit project. It skips the test if the list is
// missing.
func audit(t *testing.T) *reports.ErrataList {
	t.Helper()
	file := filepath.Join(shared, "data/locomo_audit/errors.json")
	if _, err := os.Stat(file); err != nil {
		t.Skipf("the published list is not here: %v", err)
	}
	return read(t, file, &benchmark.Benchmark{ItemID: locomo.CanonicalID})
}

func open(t *testing.T, o locomo.Options) []deem.Item {
	t.Helper()
	set, err := locomo.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var list []deem.Item
	for it, err := range set.Items() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, it)
	}
	return list
}

// build judges items and passes the records to a builder.
func build(t *testing.T, m *reports.Matched, items []deem.Item, judge, again deem.Judge) reports.ErrataReport {
	t.Helper()
	b := reports.NewErrata(m, report.Head{Complete: true, Items: len(items)}, again)
	for i, it := range items {
		rec := deem.Record{Item: it, Position: i, Judge: judge.Name()}
		v, err := judge.Judge(t.Context(), it)
		if err != nil {
			t.Fatal(err)
		}
		rec.Verdict = &v
		if err := b.Add(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	return b.Report()
}

// The answers of a run of the audit, and of one with unusable ids.
var (
	auditRun    = filepath.Join(shared, "data/locomo_audit/fc-baseline/results/gpt-4o-mini-memos/eval_results.json")
	memobaseRun = filepath.Join(shared, "data/locomo_memobase/docs/experiments/locomo-benchmark/fixture/memobase/memobase_eval_0503_3000.json")
)

// TestPublishedCeiling reproduces the ceilings of the locomo-audit project, from items with
// ids in its own style, in ours, and with unusable ids.
func TestPublishedCeiling(t *testing.T) {
	e := audit(t)
	rule, err := locomo.NewF1("", "")
	if err != nil {
		t.Fatal(err)
	}
	data := []string{filepath.Join(shared, "data/locomo10/data/locomo10.json")}
	for name, o := range map[string]locomo.Options{
		"its own ids": {Responses: []string{auditRun}},
		"ours":        {Data: data, Responses: []string{auditRun}},
		"positions":   {Responses: []string{memobaseRun}},
	} {
		items := open(t, o)
		r := build(t, match(t, e, items...), items, rule, rule)
		got := []string{fmt.Sprintf("known %d corrupting %d absent %d mended %d", r.Known, r.Corrupting, r.Absent, r.Corrected)}
		for _, l := range append(r.Categories, r.Overall) {
			got = append(got, fmt.Sprintf("%s %d %d %.2f", l.Category, l.Faulty, l.Items, 100*l.Ceiling.Value))
		}
		want := []string{
			"known 156 corrupting 99 absent 0 mended 0",
			"1 28 282 90.07", "2 26 321 91.90", "3 9 96 90.62", "4 36 841 95.72", " 99 1540 93.57",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: ceilings (-want +got):\n%s", name, diff)
		}
	}
}

// TestPublishedCorrection corrects real answers in two ways: in the report, and by judging
// all items with corrected references.
func TestPublishedCorrection(t *testing.T) {
	e := audit(t)
	rule, err := locomo.NewF1("", "")
	if err != nil {
		t.Fatal(err)
	}
	items := open(t, locomo.Options{Responses: []string{auditRun}})
	m := match(t, e, items...)
	r := build(t, m, items, rule, rule)
	fixed := make([]deem.Item, len(items))
	for i, it := range items {
		fixed[i], _ = m.Correct(it)
	}
	by := build(t, match(t, e, fixed...), fixed, rule, rule)
	l := r.Overall
	if l.Sound.Items != 1441 || l.Wrong.Items != 99 || l.Corrected.Items != 1540 {
		t.Errorf("%d sound, %d wrong, %d corrected, want 1441, 99, 1540", l.Sound.Items, l.Wrong.Items, l.Corrected.Items)
	}
	if got, want := l.Corrected.Judged.Value, by.Overall.Published.Judged.Value; got != want || got == l.Published.Judged.Value {
		t.Errorf("corrected score %v, and %v by judging again; as published %v", got, want, l.Published.Judged.Value)
	}
	t.Logf("as published %.4f, sound %.4f, wrong %.4f, corrected %.4f; %d better, %d worse",
		l.Published.Judged.Value, l.Sound.Judged.Value, l.Wrong.Judged.Value, l.Corrected.Judged.Value, r.Rejudged.Better, r.Rejudged.Worse)
	if by.Corrected == 0 || by.Overall.Faulty+by.Corrected != 99 {
		t.Errorf("of the corrected items %d are faulty and %d mended, want 99 together", by.Overall.Faulty, by.Corrected)
	}
}
