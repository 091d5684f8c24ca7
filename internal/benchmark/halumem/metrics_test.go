package halumem_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"deem"
	"deem/internal/benchmark/halumem"
)

// rec returns a record; the label "" means a failure.
func rec(stage, label string, fields map[string]string) deem.Record {
	r := deem.Record{Item: deem.Item{Category: stage, Cluster: "u", Fields: fields}}
	if label == "" {
		r.Failure = deem.Failf(deem.Unparseable, "no")
		return r
	}
	r.Verdict = &deem.Verdict{Label: label}
	if stage == halumem.Accuracy {
		r.Verdict.Aspects = map[string]float64{"included": 1}
	}
	return r
}

func metricsOf(reading string, records ...deem.Record) *halumem.Metrics {
	m := halumem.NewMetrics(reading)
	for _, r := range records {
		m.Add(r)
	}
	return m
}

// stats returns the output of WriteStats as a tree.
func stats(t *testing.T, m *halumem.Metrics) map[string]map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := m.WriteStats(&b); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Overall map[string]json.RawMessage `json:"overall_score"`
		Notes   []string                   `json:"deem_notes"`
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	tree := map[string]map[string]any{"deem_notes": {}}
	for key, raw := range file.Overall {
		var section map[string]any
		if key == "memory_extraction_f1" {
			raw = json.RawMessage(`{"value": ` + string(raw) + `}`)
		}
		if err := json.Unmarshal(raw, &section); err != nil {
			t.Fatal(err)
		}
		tree[key] = section
	}
	for _, note := range file.Notes {
		tree["deem_notes"][note] = true
	}
	return tree
}

// figure returns the named figure.
func figure(t *testing.T, m *halumem.Metrics, name string) halumem.Figure {
	t.Helper()
	for _, f := range m.Summary().Metrics {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure %s", name)
	return halumem.Figure{}
}

func point(source, kind, importance string) map[string]string {
	return map[string]string{"memory_source": source, "memory_type": kind, "importance": importance}
}

// TestStats checks an example computed by hand.
func TestStats(t *testing.T) {
	persona, event := "Persona Memory", "Event Memory"
	m := metricsOf(halumem.Upstream,
		rec("integrity", "2", point("system", persona, "1.0")),
		rec("integrity", "1", point("secondary", persona, "0.5")),
		rec("integrity", "", point("secondary", event, "0.5")),
		rec("integrity", "2", point("interference", event, "1.0")),
		rec("integrity", "0", point("interference", event, "1.0")),
		rec("integrity", "", point("interference", event, "")),
		rec("accuracy", "2", nil),
		rec("accuracy", "1", nil),
		rec("accuracy", "", nil),
		rec("update", "Correct", point("secondary", persona, "0.5")),
		rec("update", "Other", point("secondary", persona, "0.5")),
		rec("update", "", point("secondary", persona, "0.5")),
		rec("qa", "Correct", nil),
		rec("qa", "Omission", nil),
		rec("qa", "", nil),
	)
	got := stats(t, m)
	want := map[string]map[string]any{
		"memory_integrity": {
			"recall(all)": 1.0 / 3, "recall(valid)": 0.5, "weighted_recall(all)": 1.25 / 2, "weighted_recall(valid)": 1.25 / 1.5,
			"memory_valid_importance_sum": 1.5, "memory_importance_sum": 2.0, "memory_valid_num": 2.0, "memory_num": 3.0,
		},
		"memory_accuracy": {
			"interference_accuracy(all)": 1.0 / 3, "interference_accuracy(valid)": 0.5, "interference_memory_valid_num": 2.0, "interference_memory_num": 3.0,
			// An unjudged memory is not in any denominator of the targets.
			"target_accuracy(all)": 0.75, "target_accuracy(valid)": 0.75, "target_memory_valid_num": 2.0, "target_memory_num": 2.0,
			"weighted_accuracy(all)": 0.5, "weighted_accuracy(valid)": 0.75, "memory_valid_num": 2.0, "memory_num": 3.0,
		},
		"memory_extraction_f1": {"value": 2 * 0.75 * (1.0 / 3) / (0.75 + 1.0/3)},
		"memory_update": {
			"correct_update_memory_ratio(all)": 1.0 / 3, "correct_update_memory_ratio(valid)": 0.5,
			"hallucination_update_memory_ratio(all)": 0.0, "hallucination_update_memory_ratio(valid)": 0.0,
			"omission_update_memory_ratio(all)": 0.0, "omission_update_memory_ratio(valid)": 0.0,
			"other_update_memory_ratio(all)": 1.0 / 3, "other_update_memory_ratio(valid)": 0.5,
			"update_memory_valid_num": 2.0, "update_memory_num": 3.0,
		},
		"question_answering": {
			"correct_qa_ratio(all)": 1.0 / 3, "correct_qa_ratio(valid)": 0.5, "hallucination_qa_ratio(all)": 0.0, "hallucination_qa_ratio(valid)": 0.0,
			"omission_qa_ratio(all)": 1.0 / 3, "omission_qa_ratio(valid)": 0.5, "qa_valid_num": 2.0, "qa_num": 3.0,
		},
		"memory_type_accuracy": {
			// Interference counts as if it should have been remembered.
			"Event Memory":        map[string]any{"memory_integrity_acc": 0.25, "memory_update_acc": 0.0, "total_num": 4.0, "memory_acc": 0.25},
			"Persona Memory":      map[string]any{"memory_integrity_acc": 0.2, "memory_update_acc": 0.2, "total_num": 5.0, "memory_acc": 0.4},
			"Relationship Memory": map[string]any{"memory_integrity_acc": nil, "memory_update_acc": nil, "total_num": 0.0, "memory_acc": nil},
		},
		"time_consuming": {"add_dialogue_duration_time": nil, "search_memory_duration_time": nil, "total_duration_time": nil},
		"deem_notes": {
			"Relationship Memory: there is nothing to divide by, and upstream stops here with a ZeroDivisionError": true,
			"time_consuming: the records do not hold all durations":                                                true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	fixed := metricsOf(halumem.Fixed, rec("integrity", "2", point("interference", event, "1.0")), rec("integrity", "0", point("system", event, "1.0")))
	for _, f := range fixed.Summary().MemoryTypes {
		if f.Name == "Event Memory: memory_acc" && (f.Items != 1 || f.Valid.Value != 0) {
			t.Errorf("the fixed reading counts interference among memories: %+v", f)
		}
	}
}

// TestNothing checks that without records there are nulls and no crash.
func TestNothing(t *testing.T) {
	m := halumem.NewMetrics("")
	for _, f := range m.Summary().Metrics {
		if f.All != nil || f.Valid != nil || f.Band != nil || f.Withheld == "" {
			t.Errorf("%s without items: %+v, want it withheld", f.Name, f)
		}
	}
	var text bytes.Buffer
	if err := m.Text(&text); err != nil || !strings.Contains(text.String(), "there is no such item") {
		t.Errorf("error %v, text:\n%s", err, text.String())
	}
	tree := stats(t, m)
	if v, ok := tree["memory_integrity"]["recall(all)"]; !ok || v != nil || len(tree["deem_notes"]) < 20 {
		t.Errorf("recall(all) = %v, notes %v", v, tree["deem_notes"])
	}
	if tree["memory_extraction_f1"]["value"] != nil {
		t.Error("an F1 was made of nothing")
	}
}

// TestWithheld checks that metrics are withheld only above the limit.
func TestWithheld(t *testing.T) {
	var records []deem.Record
	for i := range 100 {
		label := "Correct"
		if i < 2 {
			label = ""
		}
		records = append(records, rec("qa", label, nil))
	}
	if f := figure(t, metricsOf("", records[1:]...), "correct_qa_ratio"); f.Valid != nil || f.Band.Lo != 98.0/99 || f.Band.Hi != 1 {
		t.Errorf("1 unjudged of 99 gives %+v, want it withheld with a band from 98/99 to 1", f)
	}
	if f := figure(t, metricsOf("", append(records[1:], rec("qa", "Correct", nil))...), "correct_qa_ratio"); f.Valid == nil || f.Valid.Value != 1 || f.All.Value != 0.99 || f.Unjudged != 1 {
		t.Errorf("1 unjudged of 100 gives %+v, want 1 and 0.99", f)
	}
	m := metricsOf("", records...)
	m.MaxUnjudged = 0.05
	if f := figure(t, m, "correct_qa_ratio"); f.Valid == nil {
		t.Errorf("2 unjudged of 100 are withheld, though 5%% are allowed: %s", f.Withheld)
	}
}

// TestPythonSums checks that sums of integers have no fraction, as in Python.
func TestPythonSums(t *testing.T) {
	for importance, want := range map[string]string{"1": "2,", "1.0": "2.0,", "0.1": "0.2,"} {
		m := metricsOf("", rec("integrity", "2", point("system", "Event Memory", importance)), rec("integrity", "", point("system", "Event Memory", importance)))
		var b bytes.Buffer
		if err := m.WriteStats(&b); err != nil {
			t.Fatal(err)
		}
		if line := lineWith(b.String(), "memory_importance_sum"); !strings.HasSuffix(strings.TrimSpace(line), ": "+want) {
			t.Errorf("importance %s twice: %s, want %s", importance, line, want)
		}
	}
}

// TestLeftOut checks that records that do not count are counted and noted.
func TestLeftOut(t *testing.T) {
	later := rec("qa", "Correct", nil)
	later.Trial = 1
	m := metricsOf("", rec("qa", "Correct", nil), later, rec("qa", "Other", nil), rec("update", "good", nil), rec("integrity", "3", nil),
		rec("accuracy", "x", nil), rec("dream", "1", nil), rec("integrity", "1", point("system", "Event Memory", "")))
	s := m.Summary()
	if s.Items != 2 {
		t.Errorf("%d items, want 2", s.Items)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, want := range []string{"1 record of later trials", "5 records left out", "1 memory point without a number as importance"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}

// TestTimes adds durations up in the order of the file.
func TestTimes(t *testing.T) {
	m := metricsOf("",
		rec("qa", "Correct", map[string]string{"add_dialogue_durations_ms": "0.1 0.2 0.3", "search_durations_ms": "60000"}),
		rec("qa", "Correct", map[string]string{"add_dialogue_durations_ms": "", "search_durations_ms": "30000 x"}))
	got := m.Summary().Times
	var sum float64
	for _, ms := range []float64{0.1, 0.2, 0.3} {
		sum += ms
	}
	if got.AddDialogue == nil || *got.AddDialogue != sum/1000/60 || got.Search == nil || *got.Search != 1.5 {
		t.Errorf("times %v and %v, want %v and 1.5", got.AddDialogue, got.Search, sum/1000/60)
	}
}

// TestAttribution checks where wrong answers went wrong.
func TestAttribution(t *testing.T) {
	memory := func(stage, label, content string) deem.Record {
		r := rec(stage, label, point("system", "Event Memory", "1"))
		r.Item.References = []string{content}
		return r
	}
	decoy := memory("integrity", "0", "kept")
	decoy.Item.Cluster = "somebody else"
	false0 := memory("integrity", "0", "lie")
	false0.Item.Fields = point("interference", "Event Memory", "1")
	points := []deem.Record{
		memory("integrity", "0", "missed"), memory("integrity", "1", "half"), memory("integrity", "2", "kept"), memory("integrity", "", "unjudged"),
		memory("update", "Hallucination", "stale"), memory("update", "Correct", "fresh"), memory("update", "", "unjudged update"),
		memory("integrity", "0", "twice"), memory("integrity", "2", "twice"), memory("integrity", "2", "again"), memory("integrity", "0", "again"), decoy, false0,
	}
	tests := []struct{ evidence, retrieved, want string }{
		{"", "0/0", "nothing_to_recall"},
		{"missed", "1/1", "not_extracted"},
		{"kept\nmissed", "2/2", "not_extracted"},
		{"half\nstale", "2/2", "partly_extracted"},
		{"stale", "1/1", "wrongly_updated"},
		{"unjudged\nmissed", "2/2", "not_extracted"},
		{"kept", "0/1", "not_retrieved"},
		{"kept\nfresh", "1/2", "not_retrieved"},
		{"kept\nfresh", "2/2", "lost_in_answering"},
		{"twice", "1/1", "lost_in_answering"},
		{"again", "1/1", "lost_in_answering"},
		{"unjudged", "1/1", "unknown"},
		{"unjudged update", "1/1", "unknown"},
		{"kept", "", "unknown"},
		{"nowhere in the data", "1/1", "unknown"},
		{"lie", "1/1", "unknown"},
	}
	var records []deem.Record
	want := map[string][]string{}
	for i, tt := range tests {
		r := rec("qa", "Hallucination", map[string]string{"evidence": tt.evidence, "retrieved": tt.retrieved})
		if tt.retrieved == "" {
			delete(r.Item.Fields, "retrieved")
		}
		r.Item.ID, r.Position = fmt.Sprint("q", i), i
		records = append(records, r)
		want[tt.want] = append(want[tt.want], r.Item.ID)
	}
	records = append(append(records, points...), rec("qa", "Correct", nil), rec("qa", "", nil))
	for _, order := range []string{"as given", "shuffled"} {
		got := map[string][]string{}
		s := metricsOf("", records...).Summary()
		for _, l := range s.Attribution.Losses {
			if l.N > 0 {
				got[l.Where] = l.Items
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || s.Attribution.Wrong != len(tests) {
			t.Errorf("%s: %d wrong answers, want %d; -want +got:\n%s", order, s.Attribution.Wrong, len(tests), diff)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] }) //nolint:gosec // no secret
	}
}

// TestOrder checks that the summary does not depend on the order of records.
func TestOrder(t *testing.T) {
	labels := map[string][]string{
		"integrity": {"0", "1", "2", ""}, "accuracy": {"0", "1", "2", ""}, "update": {"Correct", "Hallucination", "Omission", "Other", ""}, "qa": {"Correct", "Hallucination", "Omission", ""},
	}
	rapid.Check(t, func(t *rapid.T) {
		var records []deem.Record
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			stage := rapid.SampledFrom([]string{"integrity", "accuracy", "update", "qa"}).Draw(t, "stage")
			r := rec(stage, rapid.SampledFrom(labels[stage]).Draw(t, "label"), point(
				rapid.SampledFrom([]string{"system", "interference"}).Draw(t, "source"), "Event Memory",
				rapid.SampledFrom([]string{"0.75", "1", "0.1", ""}).Draw(t, "importance")))
			r.Item.ID, r.Position = fmt.Sprint(i), i
			records = append(records, r)
		}
		m := halumem.NewMetrics("")
		m.MaxUnjudged = 1
		n := halumem.NewMetrics("")
		n.MaxUnjudged = 1
		for _, r := range records {
			m.Add(r)
		}
		for _, r := range rapid.Permutation(records).Draw(t, "order") {
			n.Add(r)
		}
		a, b := m.Summary(), n.Summary()
		if diff := cmp.Diff(a, b, cmp.FilterPath(inBand, cmp.Comparer(near))); diff != "" {
			t.Fatalf("another order gives another summary:\n%s", diff)
		}
		for _, f := range a.Metrics {
			if f.Valid != nil && f.Band != nil && f.All != nil && (f.All.Value < f.Band.Lo-1e-9 || f.All.Value > f.Band.Hi+1e-9) && f.Name != "target_accuracy" && f.Name != "memory_extraction_f1" {
				t.Fatalf("%s = %v lies outside its band %v", f.Name, f.All.Value, *f.Band)
			}
		}
		if _, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		}
	})
}

// inBand selects the ends of bands, whose last digit depends on the order of sums.
func inBand(p cmp.Path) bool { return strings.Contains(p.GoString(), ".Band") }

func near(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }
