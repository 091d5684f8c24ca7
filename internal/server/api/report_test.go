package api_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem"
	"deem/internal/reports"
	"deem/internal/store"
	"deem/judge/rule"
)

// storedRun stores a run of three items with the given settings. One response matches its
// reference.
func storedRun(t *testing.T, st store.Store, set reports.Settings) store.Run {
	t.Helper()
	items := []deem.Item{
		{ID: "a", References: []string{"Ann"}, Response: "Ann"},
		{ID: "b", References: []string{"Rome"}, Response: "Oslo"},
		{ID: "c", References: []string{"seven"}, Response: "eight"},
	}
	j, ok := rule.Named("exact")
	if !ok {
		t.Fatal("there is no rule exact")
	}
	settings, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	spec := store.Spec{
		Judge: store.JudgeSpec{Name: j.Name(), Rule: true}, Settings: settings, Trials: 1,
		Dataset: store.DatasetSpec{Names: []string{"told.jsonl"}, Hash: "dataset-told.jsonl", Items: len(items)},
	}
	if spec.Judge.Hash, err = deem.JudgeHash(j); err != nil {
		t.Fatal(err)
	}
	if spec.Judge.Identity, err = deem.Canonical(j.(deem.Identified).Identity()); err != nil {
		t.Fatal(err)
	}
	run, _, err := st.Begin(t.Context(), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	stream := func(yield func(deem.Item, error) bool) {
		for _, it := range items {
			yield(it, nil)
		}
	}
	for rec, err := range deem.Run(t.Context(), stream, j, deem.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Append(t.Context(), run.ID, []deem.Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Finish(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if run, err = st.Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}

// reportAt returns the address of a report with gates.
func reportAt(run store.Run, gates ...string) string {
	return "/api/v1/runs/" + run.ID + "/report?" + url.Values{"gate": gates}.Encode()
}

// TestReportGates checks gates against a report over HTTP.
func TestReportGates(t *testing.T) {
	ts := serveAPI(t, nil)
	run := storedRun(t, ts.store, reports.Settings{})
	ts.ask(t, "GET", reportAt(run), "").want(t, 200, "gates", nil, "judged", 3)
	a := ts.ask(t, "GET", reportAt(run, "overall >= 30%", "overall.lo >= 90%"), "")
	a.want(t, 200, "gates.0.gate", "overall >= 30%", "gates.0.ok", true, "gates.1.ok", false, "gates.2", nil)
	if detail, _ := a.at("gates.1.detail").(string); !strings.Contains(detail, "overall.lo is ") {
		t.Errorf("the detail of a gate is %q, want the number that decided", detail)
	}
	ts.ask(t, "GET", reportAt(run, "nope >= 1%"), "").want(t, 200, "gates.0.ok", false)

	ts.ask(t, "GET", reportAt(run, "overall => 1"), "").wantProblem(t, 400, "character 9", "a gate looks like")
	ts.ask(t, "GET", reportAt(run, "overall >= 30pp"), "").wantProblem(t, 400, "character 12", "write 30%")
	ts.ask(t, "GET", reportAt(run, ""), "").wantProblem(t, 400, "wanted a name")
	ts.ask(t, "GET", "/api/v1/runs/last/report?gates=n", "").wantProblem(t, 400, "gate")
	// Only parameters that repeat may be given twice.
	ts.ask(t, "GET", "/api/v1/runs?limit=1&limit=2", "").wantProblem(t, 400, "2 times")
}

// TestReportPromisedGates checks that a report includes the gates of the lock without a
// request for them.
func TestReportPromisedGates(t *testing.T) {
	ts := serveAPI(t, nil)
	run := storedRun(t, ts.store, reports.Settings{Lock: &reports.LockSettings{Hash: "h", Gates: []string{"overall >= 99%", "n >= 1"}}})
	ts.ask(t, "GET", reportAt(run), "").want(t, 200, "gates.0.gate", "overall >= 99%", "gates.0.ok", false, "gates.1.ok", true)
	ts.ask(t, "GET", reportAt(run, "n >= 1"), "").want(t, 200, "gates.0.gate", "n >= 1", "gates.1.gate", "overall >= 99%", "gates.2", nil)
}

// TestReportErrata checks that a report includes the effect of the errata in the settings
// of the run.
func TestReportErrata(t *testing.T) {
	ts := serveAPI(t, func(o *options) { o.ReadOnly = true })
	file := filepath.Join(t.TempDir(), "faults.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"c","kind":"stale","corrected":"eight"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := storedRun(t, ts.store, reports.Settings{Errata: file})
	ts.ask(t, "GET", reportAt(run), "").want(t, 200, "errata.version", "deem.errata/1", "errata.file", "faults.jsonl",
		"errata.overall.faulty", 1, "errata.rejudged.better", 1, "head.harness.errata.file", "faults.jsonl")

	for name, text := range map[string]string{"gone": "", "broken": "root:x:0:0\n"} {
		t.Run(name, func(t *testing.T) {
			ts := serveAPI(t, nil)
			file := filepath.Join(t.TempDir(), "faults.jsonl")
			if text != "" {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := ts.ask(t, "GET", reportAt(storedRun(t, ts.store, reports.Settings{Errata: file})), "")
			a.want(t, 200, "errata", nil, "judged", 3)
			if !strings.Contains(a.text, "the errata that the run was told of, faults.jsonl,") {
				t.Errorf("no note says that the errata are %s: %s", name, a.text)
			}
			if strings.Contains(a.text, "root:") || strings.Contains(a.text, filepath.Dir(file)) {
				t.Errorf("the answer shows what the server's file holds, or where it is: %s", a.text)
			}
		})
	}
	// A request cannot name a file for the server to open.
	ts.ask(t, "GET", "/api/v1/runs/last/report?errata=faults.jsonl", "").wantProblem(t, 400, "errata")
}
