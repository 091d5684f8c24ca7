package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deem/internal/faultserver"
)

func TestRow(t *testing.T) {
	atMost, atLeast := target{what: "x", limit: 2}, target{what: "x", unit: "%", limit: 90, least: true}
	for _, tt := range []struct {
		row    row
		median float64
		note   string
		missed bool
	}{
		{row{target: atMost, values: []float64{3, 1, 2}, notes: []string{"a", "b", "c"}}, 2, "c", false},
		{row{target: atMost, values: []float64{3, 1, 2.1}, notes: []string{"a", "b", "c"}}, 2.1, "c", true},
		{row{target: atMost, values: []float64{1, 3}, notes: []string{"a", "b"}}, 3, "b", true},
		{row{target: atLeast, values: []float64{89.9}, notes: []string{"a"}}, 89.9, "a", true},
		{row{target: atLeast, values: []float64{90}, notes: []string{"a"}}, 90, "a", false},
	} {
		if m, note := tt.row.median(); m != tt.median || note != tt.note {
			t.Errorf("median of %v = %v, %s, want %v, %s", tt.row.values, m, note, tt.median, tt.note)
		}
		if got := tt.row.missed(); got != tt.missed {
			t.Errorf("%v misses %+v: %v, want %v", tt.row.values, tt.row.target, got, tt.missed)
		}
	}
	r := row{workload: "w", target: atLeast, values: []float64{80, 90, 85}, notes: []string{"", "", "n"}}
	if got, want := strings.Join(strings.Fields(r.String()), " "), "w x 85.0% 80.0% to 90.0% ≥ 90.0% NO n"; got != want {
		t.Errorf("row = %q, want %q", got, want)
	}
}

// TestComplete holds that a run that gave up is not measured.
func TestComplete(t *testing.T) {
	for report, want := range map[string]string{
		`{"items": 5}`:                "",
		`{"items": 5, "unjudged": 1}`: "1 unjudged",
		`{"items": 4}`:                "4 items",
		`deem: error`:                 "no JSON",
	} {
		if err := complete(report, 5); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("complete(%s) = %v, want %q", report, err, want)
		}
	}
}

// TestBareLoop holds that the bare loop asks about every item once, so that it is what
// deem is set beside.
func TestBareLoop(t *testing.T) {
	l := &lab{dir: t.TempDir()}
	data, err := l.items(40, 100)
	if err != nil {
		t.Fatal(err)
	}
	prompt := filepath.Join(l.dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte("Is {response} the same as {ground_truth}?"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := faultserver.New(faultserver.Options{})
	server := httptest.NewServer(s)
	defer server.Close()
	args := []string{"-data", data, "-prompt", prompt, "-url", server.URL, "-j", "8"}
	if err := bare(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.Distinct != 40 || st.Requests != 40 || st.Peak > 8 {
		t.Errorf("stats = %+v, want 40 requests, all different, 8 at once", st)
	}
	broken := httptest.NewServer(faultserver.New(faultserver.Options{Faults: map[faultserver.Fault]float64{faultserver.Busy: 1}}))
	defer broken.Close()
	args[5] = broken.URL
	if err := bare(context.Background(), args); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("a server that refuses: error = %v, want its status", err)
	}
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-runs", "0"}, {"-only", "("}, {"-nonsense"}} {
		if code := run(t.Context(), args); code != 2 {
			t.Errorf("bench %q exits with %d, want 2", args, code)
		}
	}
	names := map[string]bool{}
	for _, w := range workloads() {
		if names[w.name] || len(w.targets) == 0 {
			t.Errorf("workload %q is there twice, or has no target", w.name)
		}
		names[w.name] = true
	}
}
