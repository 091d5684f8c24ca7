package halumem_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deem"
	"deem/internal/benchmark/halumem"
)

// shared is the folder of reference data that deem may not ship.
const shared = "../../../../shared"

// reference reads a file of the reference data. It skips the test if the file is missing.
func reference(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		t.Skipf("the reference data are not here: %v", err)
	}
	return data
}

// pilot reads a judged results file of the pilot.
func pilot(t *testing.T, name, reading string) *halumem.Metrics {
	t.Helper()
	data := reference(t, "data/halumem_mem0_pilot/data/eval/"+name)
	m := halumem.NewMetrics(reading)
	seen := map[string]bool{}
	for rec, err := range halumem.ReadResults(t.Context(), bytes.NewReader(data), name, reading) {
		if err != nil {
			t.Fatal(err)
		}
		if (rec.Verdict == nil) == (rec.Failure == nil) || seen[rec.Item.ID] {
			t.Fatalf("record %+v has both or neither of verdict and failure, or an id that was there before", rec)
		}
		seen[rec.Item.ID] = true
		m.Add(rec)
	}
	return m
}

// TestPilotStats compares the statistics with those of upstream's program, digit for digit.
func TestPilotStats(t *testing.T) {
	for _, name := range []string{"halumem_pilot_user12_Results.json", "halumem_pilot_user12_detailed.json"} {
		m := pilot(t, name, halumem.Upstream)
		var got bytes.Buffer
		if err := m.WriteStats(&got); err != nil {
			t.Fatal(err)
		}
		theirs := string(reference(t, "data/halumem_mem0_pilot/data/eval/halumem_pilot_user12_Results.json"))
		begin := strings.Index(theirs, "{\n    \"overall_score\"")
		end := strings.Index(theirs, "        \"time_consuming\"")
		if want := theirs[begin:end]; !strings.HasPrefix(got.String(), want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got.String()))
		}
		if !strings.Contains(got.String(), `"search_memory_duration_time": 0.3108307123184204,`) {
			t.Errorf("%s: the time of searching is not upstream's 0.3108307123184204:\n%s", name, got.String())
		}
	}
}

// TestPilotSummary checks the same numbers as estimates.
func TestPilotSummary(t *testing.T) {
	m := pilot(t, "halumem_pilot_user12_Results.json", halumem.Upstream)
	s := m.Summary()
	want := map[string]float64{
		"recall": 9.0 / 185, "weighted_recall": 0.4, "interference_accuracy": 10.0 / 39,
		"target_accuracy": 1, "memory_extraction_f1": 0.09278350515463918,
		"correct_update_memory_ratio": 0, "hallucination_update_memory_ratio": 2.0 / 44,
		"correct_qa_ratio": 13.0 / 53, "hallucination_qa_ratio": 32.0 / 53, "omission_qa_ratio": 8.0 / 53,
	}
	for _, f := range s.Metrics {
		w, ok := want[f.Name]
		if !ok {
			continue
		}
		delete(want, f.Name)
		if f.Valid == nil || f.All == nil {
			t.Errorf("%s is withheld: %s", f.Name, f.Withheld)
			continue
		}
		if d := f.All.Value - w; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s = %v, want %v", f.Name, f.All.Value, w)
		}
		if f.Valid.Lo > f.Valid.Value || f.Valid.Value > f.Valid.Hi || f.Valid.Lo == f.Valid.Hi {
			t.Errorf("%s = %v lies outside its interval [%v, %v], or that has no width", f.Name, f.Valid.Value, f.Valid.Lo, f.Valid.Hi)
		}
	}
	if len(want) > 0 {
		t.Errorf("the summary lacks %v", want)
	}
	if s.Attribution.Wrong != 40 {
		t.Errorf("%d wrong answers, want 40", s.Attribution.Wrong)
	}
	n := 0
	for _, l := range s.Attribution.Losses {
		if n += l.N; len(l.Items) != min(l.N, 10) {
			t.Errorf("%s names %d of %d items", l.Where, len(l.Items), l.N)
		}
	}
	if n != 40 {
		t.Errorf("the places add up to %d wrong answers, want 40", n)
	}
}

// TestPilotFailures reads files in which nearly all judgements of one stage failed: they
// are failures, and there is no percentage for the rest.
func TestPilotFailures(t *testing.T) {
	for name, want := range map[string]struct{ accuracy, integrity int }{
		"halumem_pilot_user0_FULL_results.json": {2251, 147},
		"halumem_pilot_user3_FULL_results.json": {1574, 103},
	} {
		m := pilot(t, name, halumem.Upstream)
		s := m.Summary()
		if got := s.Failures[halumem.Accuracy][deem.Provider]; got != want.accuracy {
			t.Errorf("%s: %d failures of accuracy, want %d", name, got, want.accuracy)
		}
		if got := s.Failures[halumem.Integrity][deem.Provider]; got != want.integrity {
			t.Errorf("%s: %d failures of integrity, want %d", name, got, want.integrity)
		}
		for _, f := range s.Metrics[:6] {
			if f.Valid != nil || f.All != nil || f.Withheld == "" {
				t.Errorf("%s: %s = %v with %d of %d unjudged, want it withheld", name, f.Name, f.Valid, f.Unjudged, f.Items)
			}
		}
		var text bytes.Buffer
		if err := m.Text(&text); err != nil {
			t.Fatal(err)
		}
		if line := lineWith(text.String(), "weighted_accuracy"); !strings.Contains(line, "withheld") || !strings.Contains(line, "unjudged") {
			t.Errorf("%s: the text says %q of weighted_accuracy, want it withheld", name, line)
		}
		if _, err := json.Marshal(m.JSON()); err != nil {
			t.Error(err)
		}
	}
}

func lineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}
